#include "assets/state.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

constexpr int format = 1;
constexpr std::array<std::string_view, 5> target_names = {"install-config", "manifests", "ignition-configs",
                                                          "single-node-ignition-config", "cluster"};

std::optional<Target> find_target(std::string_view name) {
  for (std::size_t i = 0; i < target_names.size(); ++i) {
    if (target_names[i] == name) return static_cast<Target>(i);
  }
  return std::nullopt;
}

Result<Tls> parse_tls(const Json& value) {
  Tls tls;
  for (const auto& member : find_object(value, {"tls"})) {
    std::string pem = TRY(require_string(member.value(), {"certificate"}));
    Secret key(TRY(require_string(member.value(), {"key"})));
    tls.emplace(std::string(member.key()), net::Certificate{std::move(pem), std::move(key)});
  }
  return tls;
}

// A plan writes to these paths, so only manifests directly in their folders are allowed.
Result<> check_user_path(std::string_view path) {
  const std::string_view name = path.substr(path.find('/') + 1);
  if (is_manifest_path(path) && !name.empty() && !name.starts_with('.') && name.find('/') == std::string_view::npos) return Ok{};
  return error(Code::invalid, "userFiles: '{}' is not a manifest file", path);
}

// In the state file of openshift-install the keys are Go types, "*installconfig.InstallConfig".
bool is_from_openshift_install(const Json& value) {
  const JsonObject& members = find_object(value, {});
  return std::any_of(members.begin(), members.end(), [](const auto& member) { return member.key().starts_with('*'); });
}

Result<State> read_state(const Json& value) {
  const Json* found = find(value, {"format"});
  if (!found || *found != Json(format)) return error(Code::invalid, "format: must be {}", format);
  State state;
  state.install_config = TRY(require_string(value, {"installConfig"}));
  state.id.infra_id = TRY(require_string(value, {"infraID"}));
  state.id.cluster_id = TRY(require_string(value, {"clusterID"}));
  state.password.plain = Secret(TRY(require_string(value, {"kubeadmin", "password"})));
  state.password.hash = TRY(require_string(value, {"kubeadmin", "hash"}));
  state.token.text = Secret(TRY(require_string(value, {"machineConfigServerToken"})));
  const auto worker_token = find_string(value, {"machineConfigServerWorkerToken"});
  state.token.worker = worker_token ? Secret(std::string(*worker_token)) : state.token.text;
  state.no_kubeadmin = is_true(value, {"noKubeadmin"});
  state.with_machine_os_config = is_true(value, {"withMachineOSConfig"});
  state.bootstrap_url = find_string(value, {"bootstrapURL"}).value_or("");
  if (find(value, {"ironic"})) {
    std::string user = TRY(require_string(value, {"ironic", "user"}));
    state.ironic = IronicCredentials{std::move(user), Secret(TRY(require_string(value, {"ironic", "password"})))};
  }
  state.tls = TRY(parse_tls(value));
  const std::string target = TRY(require_string(value, {"target"}));
  const std::optional<Target> known = find_target(target);
  if (!known) return error(Code::invalid, "target: '{}' is not a target", target);
  state.target = *known;
  state.complete = is_true(value, {"complete"});
  state.has_cluster = is_true(value, {"hasCluster"});
  for (const auto& member : find_object(value, {"written"})) {
    auto& digests = state.written[std::string(member.key())];
    for (const Json& digest : find_array(member.value(), {})) digests.insert(TRY(require_string(digest, {})));
  }
  for (const auto& member : find_object(value, {"userFiles"})) {
    TRY(check_user_path(member.key()));
    const std::optional<std::string_view> content = find_string(member.value(), {});
    state.user.files[std::string(member.key())] = content ? std::optional<std::string>(*content) : std::nullopt;
  }
  return state;
}

}  // namespace

bool is_for_machines(std::string_view path) { return path.starts_with("manifests/") || path.starts_with("openshift/"); }

bool is_manifest_path(std::string_view path) { return is_for_machines(path) || path.starts_with("cluster-api/"); }

std::string_view to_string(Target target) { return target_names[static_cast<std::size_t>(target)]; }

Result<State> parse_state(std::string_view text) {
  const Result<Json> parsed = parse_json(text, state_file);
  if (!parsed.ok()) {
    return error(Code::invalid, "{} (restore the state file from a copy, or use another directory)", parsed.error().message());
  }
  const Json& value = parsed.value();
  Result<State> state = read_state(value);
  if (state.ok()) return state;
  if (is_from_openshift_install(value)) {
    return error(Code::invalid,
                 "{}: written by openshift-install, and only openshift-install can continue or destroy that cluster (to use "
                 "slipway, copy install-config.yaml to another directory)",
                 state_file);
  }
  const Json* version = find(value, {"format"});
  if (version && version->is_int64() && version->get_int64() > format) {
    return error(Code::invalid,
                 "{}: written by a newer version of this program (format {}, supported: {}; use the newer version)", state_file,
                 version->get_int64(), format);
  }
  return error(Code::invalid, "{}: not written by this program: {} (use another directory, or remove the file to start again)",
               state_file, state.error().message());
}

std::string state_text(const State& state) {
  JsonObject tls, written, user;
  for (const auto& [name, certificate] : state.tls) {
    tls[name] = {{"certificate", certificate.pem}, {"key", certificate.key.reveal()}};
  }
  for (const auto& [path, digests] : state.written) written[path] = JsonArray(digests.begin(), digests.end());
  for (const auto& [path, content] : state.user.files) user[path] = content ? Json(*content) : Json(nullptr);
  Json text = {{"format", format},
               {"installConfig", state.install_config},
               {"infraID", state.id.infra_id},
               {"clusterID", state.id.cluster_id},
               {"kubeadmin", {{"password", state.password.plain.reveal()}, {"hash", state.password.hash}}},
               {"machineConfigServerToken", state.token.text.reveal()},
               {"machineConfigServerWorkerToken", state.token.worker.reveal()},
               {"noKubeadmin", state.no_kubeadmin},
               {"bootstrapURL", state.bootstrap_url},
               {"target", to_string(state.target)},
               {"complete", state.complete},
               {"hasCluster", state.has_cluster},
               {"tls", std::move(tls)},
               {"written", std::move(written)},
               {"userFiles", std::move(user)}};
  if (state.with_machine_os_config) text.get_object()["withMachineOSConfig"] = true;
  if (state.ironic) {
    text.get_object()["ironic"] = {{"user", state.ironic->user}, {"password", state.ironic->password.reveal()}};
  }
  return emit_json(text, JsonStyle::pretty);
}

}  // namespace slipway::assets
