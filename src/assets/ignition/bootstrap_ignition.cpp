#include "assets/ignition/bootstrap_ignition.h"

#include "assets/ignition/bootstrap_variants.h"
#include "assets/ignition/pointer.h"
#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "assets/tls/tls.h"
#include "base/text.h"
#include "ignition/make.h"
#include "machineconfig/registries.h"
#include "machineconfig/registry_logins.h"
#include "net/ip.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

using config::InstallConfig;
using ignition::Config;

constexpr int secret_mode = 0600;
constexpr int public_mode = 0644;
constexpr int program_mode = 0555;
constexpr std::string_view trust_bundle_file = "/etc/pki/ca-trust/source/anchors/ca.crt";

constexpr std::string_view containerd_settings = "/etc/containerd/config.toml";

// Not tls/: the journal gateway does not run as root and reads its key there.
constexpr std::array<std::string_view, 3> private_folders = {"auth", "manifests", "openshift"};

std::string last_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Files that exist on the system already; our content is appended.
bool is_appended(std::string_view path) {
  const std::string name = last_of(path);
  return name == "motd" || name == "containers.conf" || path == containerd_settings;
}

// Units that start at boot. They start the other units by Wants and Requires.
constexpr std::array<std::string_view, 8> enabled_units = {
    "approve-csr.service", "chown-gatewayd-key.service", "install-to-disk.service", "journal-gateway-tls.service",
    "kubelet.service",     "master-bmh-update.service",  "progress.service",        "systemd-journal-gatewayd.socket",
};

// The version that OpenShift's installer writes here.
constexpr ignition::Version encapsulated_version = ignition::Version::v3_1;

// A MachineConfig without apiVersion and kind: its reader on the machine expects it in this form.
Json encapsulated(const InstallConfig& config) {
  return {{"metadata", {{"name", "bootstrap-fips"}}},
          {"spec",
           {{"config", {{"ignition", {{"version", to_string(encapsulated_version)}}}}},
            {"fips", config.fips},
            {"kernelArguments", JsonArray()}}}};
}

bool has_v6_services(const InstallConfig& config) {
  const auto& networks = config.networking.service_network;
  const auto first = net::parse_cidr(networks.empty() ? "" : networks.front());
  return first.ok() && !first->is_v4();
}

// Every machine needs slipway-node. If the release does not contain it, the user has to name an image that does.
Result<> check_slipway_node(const Environment& environment) {
  if (environment.release_has_slipway_node || !environment.slipway_images.empty()) return Ok{};
  return error(Code::invalid,
               "release {}: contains no slipway-node, which the bootstrap machine needs (set SLIPWAY_IMAGE to any release image "
               "of slipway, or mirror slipway's release and add the mirror to imageDigestSources with source {})",
               environment.release_image, slipway_repository);
}

template <class Line>
std::string for_each_variable(const InstallConfig& config, Line line) {
  if (!config.proxy) return "";
  const std::vector<std::pair<std::string_view, std::string>> variables = {
      {"HTTP_PROXY", config.proxy->http_proxy}, {"HTTPS_PROXY", config.proxy->https_proxy}, {"NO_PROXY", no_proxy(config)}};
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) text += line(name, value);
  }
  return text;
}

}  // namespace

TemplateValues bootstrap_values(const InstallConfig& config, const Environment& environment) {
  const std::string domain = config.cluster_domain();
  return {{"RELEASE_IMAGE", environment.release_image},
          {"CLUSTER_DOMAIN", domain},
          {"API_HOST", "api." + domain},
          {"API_INT_HOST", "api-int." + domain},
          {"API_VIPS", join(config::api_vips(config), " ")},
          {"PLATFORM", config.platform.type},
          {"BOOTSTRAP_NODE_IP", environment.bootstrap_node_ip},
          {"CLUSTER_PROFILE", environment.cluster_profile},
          {"NODE_IP_FAMILY", has_v6_services(config) ? "6" : "4"},
          {"SLIPWAY_IMAGES", join(environment.slipway_images, " ")}};
}

void put_file(Config& config, const std::string& path, std::string_view content, int mode) {
  ignition::File file = ignition::make_file(path, content, mode);
  file.user.name = "root";
  if (is_appended(path)) {
    file.overwrite = false;
    file.append = {std::exchange(file.contents, {})};
  }
  ignition::put(config, std::move(file));
}

Result<> put_data_files(Config& config, std::span<const data::File> files, std::string_view folder,
                        const TemplateValues& values) {
  for (const data::File& file : files) {
    if (!file.path.starts_with(folder)) continue;
    const std::string_view path = file.path.substr(folder.size());
    const std::vector<std::string_view> steps = split(path, '/');
    std::string text = TRY(fill_template(file.content, file.path, values));
    if (steps.front() == "files") {
      const std::string target(path.substr(steps.front().size()));
      put_file(config, target, text, mode_of(target));
    } else if (steps.front() == "units" && steps.size() == 2) {
      ignition::Unit unit{.name = std::string(steps[1])};
      if (std::ranges::find(enabled_units, unit.name) != enabled_units.end()) unit.enabled = true;
      if (!text.empty()) unit.contents = std::move(text);
      ignition::put(config, std::move(unit));
    } else if (steps.front() == "units" && steps.size() == 3 && steps[1].ends_with(".d") && steps[2].ends_with(".conf")) {
      const std::string_view stem = steps[2].substr(0, steps[2].size() - 5);
      put_dropin(config, steps[1].substr(0, steps[1].size() - 2), stem, std::move(text));
    } else {
      return error(Code::internal, "{} is neither files/PATH nor units/UNIT nor units/UNIT.d/NAME.conf", file.path);
    }
  }
  return Ok{};
}

int mode_of(std::string_view path) {
  const std::vector<std::string_view> steps = split(path, '/');
  const std::string_view folder = steps.size() < 2 ? "" : steps[steps.size() - 2];
  if (folder == "bin" || folder == "dispatcher.d") return program_mode;
  return is_appended(path) || steps.back() == "registries.conf" ? public_mode : secret_mode;
}

std::string registries_conf(const InstallConfig& config) {
  std::vector<config::MirrorSource> merged;
  for (const auto* list : {&config.image_digest_sources, &config.image_content_sources}) {
    for (const config::MirrorSource& each : *list) {
      auto same = std::ranges::find(merged, each.source, &config::MirrorSource::source);
      if (same == merged.end()) same = merged.insert(same, {each.source, {}});
      for (const std::string& mirror : each.mirrors) {
        if (std::ranges::find(same->mirrors, mirror) == same->mirrors.end()) same->mirrors.push_back(mirror);
      }
    }
  }
  std::string text;
  for (const config::MirrorSource& each : merged) {
    if (each.mirrors.empty()) continue;
    text += fmt::format("[[registry]]\nlocation = \"{}\"\ninsecure = false\nmirror-by-digest-only = true\n", each.source);
    for (const std::string& mirror : each.mirrors) {
      text += fmt::format("[[registry.mirror]]\nlocation = \"{}\"\ninsecure = false\n", mirror);
    }
  }
  return text;
}

// The same for containerd, which the machine OS of slipway has. Mirrors that containerd does not support are left out: machines
// of OpenShift use registries.conf, and in the cluster the machine-config-controller reports them.
Result<std::vector<ignition::File>> containerd_mirrors(const InstallConfig& config) {
  const auto configs_for = [&](JsonArray entries) {
    const Json set = {{"kind", "ImageDigestMirrorSet"}, {"spec", {{"imageDigestMirrors", std::move(entries)}}}};
    const std::string_view authorities = config.additional_trust_bundle.empty() ? "" : trust_bundle_file;
    return machineconfig::registry_configs("master", {set}, "", authorities);
  };
  JsonArray supported;
  for (const auto* list : {&config.image_digest_sources, &config.image_content_sources}) {
    for (const config::MirrorSource& each : *list) {
      const Json entry = {{"source", each.source}, {"mirrors", array_of(each.mirrors)}};
      if (configs_for({entry}).ok()) supported.push_back(entry);
    }
  }
  std::vector<ignition::File> files;
  for (machineconfig::MachineConfig& made : TRY(configs_for(std::move(supported)))) {
    std::ranges::move(made.config.storage.files, std::back_inserter(files));
  }
  return files;
}

std::string proxy_script(const InstallConfig& config) {
  return for_each_variable(
      config, [](std::string_view name, const std::string& value) { return fmt::format("export {}=\"{}\"\n", name, value); });
}

std::string manager_environment(const InstallConfig& config) {
  return "[Manager]\n" + for_each_variable(config, [](std::string_view name, const std::string& value) {
           return ignition::manager_variable(name, value);
         });
}

void put_install_record(Config& bootstrap, const Environment& environment) {
  const JsonObject data = {{"invoker", environment.invoker}, {"version", environment.release_version}};
  const AssetFile file =
      manifest_file("manifests/openshift-install.yaml", config_map("openshift-config", "openshift-install", data));
  put_file(bootstrap, "/opt/openshift/" + file.path, file.content, secret_mode);
}

Result<BootstrapConfig> make_bootstrap_config(const InstallConfig& config, const Environment& environment, const Tls& tls,
                                              const ServerToken& token, const Kubeconfigs& kubeconfigs,
                                              const ManifestSet& manifests, const CvoOverrides& overrides,
                                              const IronicCredentials& ironic, const PointerEdits& edits) {
  TRY(check_slipway_node(environment));
  Config made{.ignition = {.version = ignition::Version::v3_2}};
  const std::string ssh_key = TRY(bootstrap_ssh_key(tls));
  ignition::User core{.name = "core", .ssh_authorized_keys = {ssh_key}};
  if (!config.ssh_key.empty()) core.ssh_authorized_keys.insert(core.ssh_authorized_keys.begin(), config.ssh_key);
  made.passwd.users = {std::move(core)};

  auto file = [&](const std::string& path, std::string_view content, int mode) { put_file(made, path, content, mode); };
  file("/etc/containers/registries.conf", registries_conf(config), public_mode);
  file("/etc/ignition-machine-config-encapsulated.json", emit_json(encapsulated(config), JsonStyle::compact), secret_mode);
  for (ignition::File& each : TRY(containerd_mirrors(config))) {
    each.user.name = "root";
    ignition::put(made, std::move(each));
  }
  if (const Secret logins = TRY(machineconfig::registry_logins(Secret(pull_secret_text(config)))); !logins.empty())
    file(std::string(containerd_settings), logins.reveal(), secret_mode);
  file(std::string(trust_bundle_file), config.additional_trust_bundle, secret_mode);
  file("/etc/profile.d/proxy.sh", proxy_script(config), secret_mode);
  file("/etc/systemd/system.conf.d/10-default-env.conf", manager_environment(config), secret_mode);
  file("/root/.docker/config.json", pull_secret_text(config), secret_mode);
  TemplateValues values = bootstrap_values(config, environment);
  TRY(put_data_files(made, data::bootstrap(), "", values));
  if (!environment.cluster_profile.empty()) TRY(put_data_files(made, data::bootstrap_variants(), "cluster-profile/", values));
  values.merge(variant_values(config, ironic));
  for (const std::string_view folder : variant_folders(config)) {
    TRY(put_data_files(made, data::bootstrap_variants(), fmt::format("{}/", folder), values));
  }
  for (const auto& [path, content] : silent_files(config)) file(path, content, secret_mode);

  if (const std::optional<HostKey> host_key = TRY(bootstrap_host_key(tls))) {
    file(host_key->path, host_key->key.reveal(), secret_mode);
    file(host_key->path + ".pub", host_key->public_line + "\n", public_mode);
  }

  const std::string root = "/opt/openshift/";
  for (const std::string_view folder : private_folders) {
    made.storage.directories.push_back({.path = root + std::string(folder), .mode = 0700});
  }
  for (const AssetFile& manifest : manifests.files) {
    file(root + manifest.path, manifest.path == "manifests/cvo-overrides.yaml" ? overrides.manifest : manifest.content,
         secret_mode);
  }
  for (const AssetFile& manifest : pointer_manifests(edits, tls)) file(root + manifest.path, manifest.content, secret_mode);
  if (config.image_mode != config::ImageMode::none) {
    file(root + "image-mode.json", emit_json({{"policy", config::to_string(config.image_mode)}}, JsonStyle::compact),
         public_mode);
  }
  file(root + "original_cvo_overrides.patch", overrides.patch, secret_mode);
  file(root + "auth/kubeconfig", kubeconfigs.bootstrap.reveal(), secret_mode);
  file(root + "auth/kubeconfig-kubelet", kubeconfigs.kubelet.reveal(), secret_mode);
  file(root + "auth/kubeconfig-loopback", kubeconfigs.loopback.reveal(), secret_mode);
  const AssetFiles keys = TRY(machine_tls_files(tls, token));
  for (const AssetFile& key : keys)
    file(root + "tls/" + key.path, key.content, key.path == "root-ca.crt" ? public_mode : secret_mode);
  return BootstrapConfig{std::move(made)};
}

}  // namespace slipway::assets
