#include "machineconfig/served_config.h"

#include "base/number.h"
#include "base/text.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "ignition/translate.h"
#include "machineconfig/node_annotations.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace slipway::machineconfig {

namespace {

struct AcceptedVersion {
  double q = 1;
  std::string version;
};

// Parses "application/vnd.coreos.ignition+json;version=3.3.0;q=0.9"; nullopt for another type or without a version.
std::optional<AcceptedVersion> parse_accepted(std::string_view entry) {
  const std::vector<std::string_view> parts = split(entry, ';');
  if (!to_lower(trim(parts[0])).ends_with("/vnd.coreos.ignition+json")) return std::nullopt;
  AcceptedVersion accepted;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = to_lower(trim(parts[i].substr(0, equals)));
    std::string_view value = trim(parts[i].substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (key == "version") accepted.version = value;
    if (key == "q") accepted.q = parse_number<double>(value).value_or(accepted.q);
    if (!(accepted.q >= 0 && accepted.q <= 1)) accepted.q = 0;
  }
  if (accepted.version.empty()) return std::nullopt;
  return accepted;
}

std::optional<int> minor_of_3(std::string_view version) {
  const std::vector<std::string_view> parts = split(version, '.');
  if (parts.size() != 3 || parts[0] != "3") return std::nullopt;
  return parse_number<int>(parts[1]);
}

void add_file(ignition::Config& config, std::string_view path, std::string_view text, int mode) {
  ignition::put(config, ignition::make_file(std::string(path), text, mode));
}

// Ignition before 3.3 has no kernel arguments. The first boot sets them instead.
Result<> move_kernel_arguments(MachineConfig& config) {
  ignition::KernelArguments& arguments = config.config.kernel_arguments;
  if (!arguments.should_not_exist.empty()) {
    return error(Code::invalid, "kernelArguments.shouldNotExist requires Ignition 3.3.0");
  }
  config.kernel_arguments.insert(config.kernel_arguments.end(), arguments.should_exist.begin(), arguments.should_exist.end());
  arguments.should_exist.clear();
  return Ok{};
}

std::string encapsulated(MachineConfig config, const std::optional<ServedImage>& image) {
  if (image) config.os_image_url = image->image;
  config.config = {.ignition = {.version = ignition::newest_version}};
  return emit_json(to_json(config), JsonStyle::compact);
}

std::string node_annotations(const std::string& name, const std::optional<ServedImage>& image) {
  JsonObject annotations = {{current_config, name},
                            {desired_config, name},
                            {"machineconfiguration.openshift.io/firstPivotConfig", name},
                            {daemon_state, state_done}};
  if (image) {
    annotations[current_image] = image->image;
    annotations[desired_image] = image->image;
  }
  return emit_json(annotations, JsonStyle::compact);
}

}  // namespace

Result<ignition::Version> accepted_version(std::string_view accept_header) {
  std::vector<AcceptedVersion> accepted_versions;
  for (std::string_view entry : split(accept_header, ',')) {
    if (std::optional<AcceptedVersion> accepted = parse_accepted(entry)) accepted_versions.push_back(*std::move(accepted));
  }
  if (accepted_versions.empty()) return ignition::Version::v3_2;
  std::ranges::stable_sort(accepted_versions, std::ranges::greater(), &AcceptedVersion::q);
  const std::string& asked = accepted_versions.front().version;
  if (const auto known = ignition::find_version(asked)) return *known;
  const std::optional<int> minor = minor_of_3(asked);
  if (minor && *minor > static_cast<int>(ignition::newest_version)) return ignition::newest_version;
  return error(Code::invalid,
               "configs are available for Ignition 3.0.0 to {}, not for {} (boot a machine image with Ignition 2.0 or newer)",
               to_string(ignition::newest_version), asked);
}

Json to_json(const ConfigServerAccess& access) {
  return {{"url", access.url}, {"ca", access.ca}, {"token", access.token.reveal()}};
}

Result<ConfigServerAccess> parse_config_server_access(std::string_view text, std::string_view name) {
  const Json value = TRY(parse_json(text, name));
  ConfigServerAccess access;
  access.url = TRY(require_string(value, {"url"}).context(name));
  access.ca = TRY(require_string(value, {"ca"}).context(name));
  access.token = Secret(std::string(TRY(require_string(value, {"token"}).context(name))));
  return access;
}

Result<ignition::Config> served_config(const MachineConfig& rendered, const ControllerConfig& controller,
                                       const JoinCredentials& credentials, ignition::Version version,
                                       const std::optional<ServedImage>& image) {
  MachineConfig config = rendered;
  if (version < ignition::Version::v3_3) TRY(move_kernel_arguments(config).context("Ignition " + to_string(version)));
  ignition::Config served = config.config;
  add_file(served, "/etc/kubernetes/kubelet-ca.crt", controller.kubelet_client_ca, 0644);
  if (!controller.cloud_provider_ca.empty()) {
    add_file(served, "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem", controller.cloud_provider_ca,
             0644);
  }
  add_file(served, "/etc/machine-config-daemon/node-annotations.json", node_annotations(config.name, image), 0644);
  add_file(served, "/etc/kubernetes/kubeconfig", credentials.kubeconfig.reveal(), 0600);
  if (credentials.config_server) {
    add_file(served, config_server_file, emit_json(to_json(*credentials.config_server), JsonStyle::compact), 0600);
  }
  if (image && image->source) {
    add_file(served, os_image_source_file, emit_json(to_json(*image->source), JsonStyle::compact), 0600);
  }
  add_file(served, "/etc/mcs-machine-config-content.json", emit_json(to_json(config), JsonStyle::pretty), 0600);
  add_file(served, "/etc/ignition-machine-config-encapsulated.json", encapsulated(config, image), 0644);
  return ignition::translate(served, version);
}

}  // namespace slipway::machineconfig
