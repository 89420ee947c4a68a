#include "components/machine_config_operator/server_certificate.h"

#include "base/digest.h"
#include "components/controller/certificate_rotation.h"

#include <algorithm>
#include <array>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;

constexpr std::string_view own_space = "openshift-machine-config-operator";
constexpr std::string_view served_name = "machine-config-server-tls";
constexpr std::string_view authority_name = "machine-config-server-ca";
constexpr std::string_view machine_space = "openshift-machine-api";
constexpr std::array pointer_names = {"master-user-data", "worker-user-data", "master-user-data-managed",
                                      "worker-user-data-managed"};
constexpr Seconds year = std::chrono::hours(24 * 365);

Signer authority() {
  return {.secret = {std::string(own_space), std::string(authority_name)},
          .bundle = {std::string(own_space), std::string(authority_name)},
          .component = "Machine Config Operator",
          .description = "Authority of the server that gives machines their configs",
          .lifetime = {.valid = 10 * year, .refresh = 8 * year}};
}

// The Secret with new values for some keys. values: plain text
Json with_values(const Json& secret, const Texts& values) {
  JsonObject data = find_object(secret, {"data"});
  for (const auto& [key, text] : values) data[key] = base64_encode(text);
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", {{"name", kube::name_of(secret)}, {"namespace", kube::namespace_of(secret)}}},
          {"type", find_string(secret, {"type"}).value_or("Opaque")},
          {"data", std::move(data)}};
}

// The config with the additional authority; nothing when no change is needed.
Result<std::optional<std::string>> with_authority(const std::string& config, const std::string& pem) {
  Json pointer = TRY(parse_json(config, "data.userData"));
  const std::string source = "data:text/plain;charset=utf-8;base64," + base64_encode(pem);
  JsonArray trusted = find_array(pointer, {"ignition", "security", "tls", "certificateAuthorities"});
  if (std::ranges::any_of(trusted, [&](const Json& each) { return find_string(each, {"source"}) == source; })) {
    return std::optional<std::string>();
  }
  // This config trusts the authorities of the system, or it is not a pointer config.
  if (trusted.empty()) return std::optional<std::string>();
  trusted.push_back(JsonObject{{"source", source}});
  pointer.as_object()["ignition"].as_object()["security"].as_object()["tls"].as_object()["certificateAuthorities"] =
      std::move(trusted);
  return std::optional(emit_json(pointer, JsonStyle::compact));
}

// Returns whether every config of new machines trusts the authority; plans a change for those that do not.
Result<bool> publish(const std::string& pem, const Snapshot& seen, Plan& plan) {
  bool is_everywhere = true;
  for (std::string_view name : pointer_names) {
    const Json* secret = seen.find(types::secrets, machine_space, name);
    const std::optional<std::string> config = data_of(secret, "userData");
    if (!config) continue;
    const auto changed = TRY(with_authority(*config, pem).context(kube::describe(*secret)));
    if (!changed) continue;
    is_everywhere = false;
    plan.desired_objects.push_back({types::secrets, with_values(*secret, {{"userData", *changed}})});
  }
  return is_everywhere;
}

}  // namespace

std::vector<Watched> watched_for_server_certificate() {
  const auto named = [](const kube::ResourceType& type, std::string_view space, std::string_view name) {
    return Watched{type, std::string(space), {.fields = fmt::format("metadata.name={}", name)}};
  };
  return {named(types::secrets, own_space, served_name), named(types::secrets, own_space, authority_name),
          named(types::config_maps, own_space, authority_name), Watched{types::secrets, std::string(machine_space)}};
}

Result<Plan> plan_server_certificate(const Snapshot& seen, WallTime now) {
  Plan plan;
  const Json* served = seen.find(types::secrets, own_space, served_name);
  const std::optional<std::string> pem = data_of(served, "tls.crt");
  if (!pem) return plan;
  const net::CertificateInfo info = TRY(net::parse_certificate(*pem).context(kube::describe(*served)));
  const WallTime due = info.not_before + (info.not_after - info.not_before) * 4 / 5;
  if (now < due) {
    plan.replan_at = due;
    return plan;
  }

  plan.add(TRY(plan_rotation({authority()}, {}, {}, seen, now)));
  if (!plan.desired_objects.empty()) return plan;
  const Json* signer = seen.find(types::secrets, own_space, authority_name);
  const net::Certificate pair{data_of(signer, "tls.crt").value_or(""), Secret(data_of(signer, "tls.key").value_or(""))};
  if (!TRY(publish(pair.pem, seen, plan))) return plan;

  const WallTime from = std::chrono::floor<Seconds>(now) - Seconds(1);
  const net::CertificateInfo of_signer = TRY(net::parse_certificate(pair.pem));
  const Seconds left = std::chrono::floor<Seconds>(of_signer.not_after - from);
  const net::Certificate made = TRY(net::make_certificate({.subject = info.subject,
                                                           .server_auth = true,
                                                           .dns_names = info.dns_names,
                                                           .ip_addresses = info.ip_addresses,
                                                           .valid_from = from,
                                                           .valid_for = std::min(10 * year, left)},
                                                          &pair));
  plan.desired_objects.push_back({types::secrets, with_values(*served, {{"tls.crt", made.pem}, {"tls.key", made.key.reveal()}})});
  return plan;
}

}  // namespace slipway::components::machine_config_operator
