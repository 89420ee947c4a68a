#include "components/kube_controller_manager/keys.h"

#include "components/controller/masters.h"
#include "components/static_pod/target_inputs.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace slipway::components::kube_controller_manager {

namespace {

using namespace std::chrono_literals;

// Time until all verifiers trust a new authority or key. Watches take a second; kubelets and clients that reload files take a
// minute.
constexpr Seconds spread = 5min;
// Pause after an installation, so that another rollout does not disturb its end or the first users of the cluster.
constexpr Seconds settle = 1h;

constexpr std::string_view bundle_key = "ca-bundle.crt";
constexpr std::string_view private_key = "service-account.key";
constexpr std::string_view public_key = "service-account.pub";

const Json* find_secret(const Snapshot& seen, std::string_view space_name, std::string_view name) {
  return seen.find(kube::types::secrets, space_name, name);
}

Seconds shortened(Seconds usual, const Lifetimes& lifetimes) {
  return lifetimes.authority ? std::min(usual, *lifetimes.authority / 10) : usual;
}

bool is_valid(const Json* signer, WallTime now) {
  const Result<net::CertificateInfo> info = net::parse_certificate(data_of(signer, "tls.crt").value_or(""));
  return info.ok() && now < info.value().not_after;
}

Signer csr_signer() {
  return {.secret = object_name(operator_space, "csr-signer"),
          .bundle = object_name(operator_space, "csr-signer-ca"),
          .component = "kube-controller-manager",
          .description = "Authority of what the controller manager signs for those who ask",
          .lifetime = {.valid = 24h * 30, .refresh = 24h * 15}};
}

// Copies the installer's certificate and key to csr-signer.
Result<> adopt(const Json& first, Target& target) {
  const net::Certificate pair{data_of(&first, "tls.crt").value_or(""), Secret(data_of(&first, "tls.key").value_or(""))};
  const Signer signer = csr_signer();
  const Json object = TRY(tls_secret(
      signer.secret, pair, {.component = signer.component, .description = signer.description, .managed_type = "signer"}));
  target.plan.desired_objects.push_back({kube::types::secrets, object, DesiredObject::How::create});
  return Ok{};
}

// Publishes the signers to all verifiers.
Result<> publish_signers(const Snapshot& seen, const std::string& signer, WallTime now, Target& target) {
  const auto bundle = [&](std::string_view space_name, std::string_view name) {
    return data_of(seen.find(kube::types::config_maps, space_name, name), bundle_key).value_or("");
  };
  const Result<std::string> all =
      join_bundles({signer, bundle(operator_space, "csr-signer-ca"), bundle(managed_space, "csr-controller-ca")}, now);
  // If one of the bundles is invalid, only the known signer is published.
  const std::string text = all.ok() ? all.value() : TRY(join_bundles({signer}, now));
  if (!text.empty()) {
    target.plan.desired_objects.push_back({kube::types::config_maps, config_map(object_name(managed_space, "csr-controller-ca"),
                                                                                {{std::string(bundle_key), text}})});
  }
  return Ok{};
}

// When the installation was completed; nothing before that.
std::optional<WallTime> completed(const Snapshot& seen) {
  std::optional<WallTime> first;
  const Json* version = seen.find(kube::types::cluster_versions, "", "version");
  if (version == nullptr) return {};
  for (const Json& entry : find_array(*version, {"status", "history"})) {
    if (find_string(entry, {"state"}) != "Completed") continue;
    const Result<WallTime> time = parse_rfc3339(find_string(entry, {"completionTime"}).value_or(""));
    if (time.ok()) first = first ? std::min(*first, time.value()) : time.value();
  }
  return first;
}

// Whether only masters serve the API. The temporary API server trusts only the installer's key.
bool is_bootstrap_gone(const Snapshot& seen) {
  std::set<std::string, std::less<>> masters;
  const Json* settings = seen.find(kube::types::kube_controller_managers, "", "cluster");
  for (const Json* node : find_masters(seen, settings ? *settings : Json(JsonObject())).nodes) {
    for (const Json& address : find_array(*node, {"status", "addresses"})) {
      masters.emplace(find_string(address, {"address"}).value_or(""));
    }
  }
  const Json* endpoints = seen.find(kube::types::endpoints, "default", "kubernetes");
  if (endpoints == nullptr) return false;
  for (const Json& subset : find_array(*endpoints, {"subsets"})) {
    for (const Json& address : find_array(subset, {"addresses"})) {
      if (!masters.contains(find_string(address, {"ip"}).value_or(""))) return false;
    }
  }
  return true;
}

bool are_api_servers_current(const Snapshot& seen) {
  const Json* settings = seen.find(kube::types::kube_apiservers, "", "cluster");
  if (settings == nullptr) return false;
  const Json* latest = find(*settings, {"status", "latestAvailableRevision"});
  const std::vector<NodeStatus> nodes = parse_node_statuses(*settings);
  return latest != nullptr && latest->is_int64() && !nodes.empty() &&
         std::ranges::all_of(nodes, [&](const NodeStatus& node) { return node.current == latest->get_int64(); });
}

void put_key(const Json& from, Target& target) {
  target.plan.desired_objects.push_back(
      {kube::types::secrets, Json{{"apiVersion", "v1"},
                                  {"kind", "Secret"},
                                  {"metadata", {{"name", "service-account-private-key"}, {"namespace", space}}},
                                  {"type", "Opaque"},
                                  {"data", find_object(from, {"data"})}}});
}

const Json* token_keys(const Snapshot& seen) {
  return seen.find(kube::types::config_maps, managed_space, "sa-token-signing-certs");
}

bool is_published(const Snapshot& seen, const std::string& key) {
  const Json* keys = token_keys(seen);
  return keys != nullptr && std::ranges::any_of(find_object(*keys, {"data"}), [&](const auto& entry) {
           return entry.value().is_string() && std::string_view(entry.value().get_string()) == key;
         });
}

// Publishes the public key. Earlier public keys stay, because tokens that they signed are still in use.
void publish(const Snapshot& seen, const std::string& key, Target& target) {
  Texts data;
  if (const Json* keys = token_keys(seen)) {
    for (const auto& [name, text] : find_object(*keys, {"data"})) {
      if (text.is_string()) data.emplace_back(name, std::string_view(text.get_string()));
    }
  }
  int number = 1;
  const auto name = [&] { return fmt::format("service-account-{:03}.pub", number); };
  while (std::ranges::any_of(data, [&](const auto& entry) { return entry.first == name(); })) ++number;
  data.emplace_back(name(), key);
  target.plan.desired_objects.push_back(
      {kube::types::config_maps, config_map(object_name(managed_space, "sa-token-signing-certs"), data)});
}

// Plans the next step of replacing the installer's key.
Result<> replace_first_key(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target) {
  const std::optional<WallTime> over = completed(seen);
  if (!over) return Ok{};
  if (const WallTime begin = *over + shortened(settle, lifetimes); now < begin) {
    target.plan.replan_by(begin);
    return Ok{};
  }
  if (!is_bootstrap_gone(seen)) return Ok{};
  const Json* next = find_secret(seen, operator_space, "next-service-account-private-key");
  if (next == nullptr) {
    const Secret key = TRY(net::make_key());
    const std::string half = TRY(net::public_key(key));
    target.plan.desired_objects.push_back({kube::types::secrets,
                                           secret(object_name(operator_space, "next-service-account-private-key"), "Opaque",
                                                  {{std::string(private_key), key.reveal()}, {std::string(public_key), half}}),
                                           DesiredObject::How::create});
    return Ok{};
  }
  const std::string half = data_of(next, public_key).value_or("");
  if (!is_published(seen, half)) {
    publish(seen, half, target);
    return Ok{};
  }
  const Result<WallTime> made = parse_rfc3339(find_string(*next, {"metadata", "creationTimestamp"}).value_or(""));
  if (const WallTime due = (made.ok() ? made.value() : now) + shortened(spread, lifetimes); now < due) {
    target.plan.replan_by(due);
  } else if (are_api_servers_current(seen)) {
    put_key(*next, target);
  }
  return Ok{};
}

}  // namespace

Result<> plan_csr_signer(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target) {
  const Json* signer = find_secret(seen, operator_space, "csr-signer");
  if (signer == nullptr) {
    const Json* first = find_secret(seen, operator_space, "csr-signer-signer");
    if (first == nullptr) {
      target.missing.push_back(fmt::format("Secret {}/csr-signer-signer, which the installer creates", operator_space));
      return Ok{};
    }
    if (is_valid(first, now)) return adopt(*first, target);
  }
  target.plan.add(TRY(plan_rotation({csr_signer()}, {}, lifetimes, seen, now)));
  const std::string pem = data_of(signer, "tls.crt").value_or("");
  const Result<net::CertificateInfo> info = net::parse_certificate(pem);
  if (!info.ok()) return Ok{};
  TRY(publish_signers(seen, pem, now, target));

  const Json* used = find_secret(seen, space, "csr-signer");
  const WallTime due = info.value().not_before + shortened(spread, lifetimes);
  if (used != nullptr && is_valid(used, now) && data_of(used, "tls.crt") != pem && now < due) {
    target.plan.replan_by(due);
    return Ok{};
  }
  copy_object(Part::Kind::secret, object_name(operator_space, "csr-signer"), object_name(space, "csr-signer"), "", seen, target);
  return Ok{};
}

Result<> plan_account_key(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target) {
  const Json* used = find_secret(seen, space, "service-account-private-key");
  const Json* first = find_secret(seen, "openshift-config", "initial-service-account-private-key");
  if (used == nullptr) {
    // If the key was deleted, the first key is used until the next plan restores its successor.
    if (first != nullptr) {
      put_key(*first, target);
    } else {
      target.missing.push_back("Secret openshift-config/initial-service-account-private-key, which the installer creates");
    }
    return Ok{};
  }
  if (first == nullptr || data_of(used, private_key) != data_of(first, private_key)) return Ok{};
  return replace_first_key(seen, lifetimes, now, target);
}

}  // namespace slipway::components::kube_controller_manager
