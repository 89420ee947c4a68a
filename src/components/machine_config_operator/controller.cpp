#include "components/machine_config_operator/controller.h"

#include "base/findings.h"
#include "base/flags.h"
#include "components/machine_config_operator/bootstrap_os_builds.h"
#include "components/machine_config_operator/render_controller.h"
#include "components/render/inputs.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/pool_settings.h"
#include "machineconfig/registries.h"
#include "machineconfig/render.h"

#include <algorithm>
#include <map>
#include <optional>

namespace slipway::components::machine_config_operator {

namespace {

using machineconfig::ControllerConfig;
using machineconfig::MachineConfig;
using machineconfig::Pool;

struct Manifests {
  std::optional<ControllerConfig> controller;
  std::map<std::string, Pool> pools;
  std::vector<MachineConfig> configs;
  std::vector<Json> mirror_sets;
  std::vector<Json> settings;
  std::optional<Json> api_server;
};

bool is_built_in(const Pool& pool) {
  return find(pool.object, {"metadata", "labels", "machineconfiguration.openshift.io/mco-built-in"}) != nullptr;
}

void add_pool(std::map<std::string, Pool>& pools, Pool pool, const Place& place, Findings& findings) {
  const auto [other, added] = pools.try_emplace(pool.name, pool);
  if (added || is_built_in(pool)) return;
  if (!is_built_in(other->second)) findings.error(place, "metadata.name", "duplicate pool '{}'", pool.name);
  other->second = std::move(pool);
}

// The value; on an error, nothing and a finding.
template <class T>
std::optional<T> value_of(Result<T> result, Findings& findings) {
  if (result.ok()) return std::move(result).value();
  findings.error({}, "", "{}", result.error().message());
  return std::nullopt;
}

void collect(const YamlDocument& document, Manifests& manifests, Findings& findings) {
  const Json& object = document.value;
  const std::string_view version = find_string(object, {"apiVersion"}).value_or("");
  const std::string_view kind = find_string(object, {"kind"}).value_or("");
  const bool is_ours = version.starts_with("machineconfiguration.openshift.io/");
  if (is_ours && kind == "ControllerConfig") {
    manifests.controller = value_of(machineconfig::parse_controller_config(object, document.name), findings);
  } else if (is_ours && kind == "MachineConfigPool") {
    std::optional<Pool> pool = value_of(machineconfig::parse_pool(object, document.name), findings);
    if (pool) add_pool(manifests.pools, *std::move(pool), {document.name}, findings);
  } else if (is_ours && kind == "MachineConfig") {
    std::optional<MachineConfig> config = value_of(machineconfig::parse_machine_config(object, document.name), findings);
    if (config) manifests.configs.push_back(*std::move(config));
  } else if (is_ours && (kind == "KubeletConfig" || kind == "ContainerRuntimeConfig")) {
    machineconfig::check_pool_settings(document, findings);
    manifests.settings.push_back(object);
  } else if (version.find(".openshift.io/") != std::string_view::npos && machineconfig::names_mirrors(kind)) {
    manifests.mirror_sets.push_back(object);
  } else if (version.starts_with("config.openshift.io/") && kind == "APIServer") {
    manifests.api_server = object;
  }
}

std::vector<Json> pool_objects(const Manifests& manifests) {
  std::vector<Json> objects;
  for (const auto& [name, pool] : manifests.pools) objects.push_back(pool.object);
  return objects;
}

// Generated configs come first: a later config of a user with the same name replaces them.
Result<std::vector<MachineConfig>> all_configs(const Manifests& manifests, const Secret& pull_secret) {
  GeneratedFrom from{.controller = *manifests.controller,
                     .pull_secret = pull_secret,
                     .pools = pool_objects(manifests),
                     .mirror_sets = manifests.mirror_sets,
                     .settings = manifests.settings};
  std::vector<MachineConfig> all = TRY(generated_configs(from));
  all.insert(all.end(), manifests.configs.begin(), manifests.configs.end());
  return all;
}

}  // namespace

Result<RenderedFiles> render_machine_config_pools(const std::vector<YamlDocument>& documents, const Json& pull_secret,
                                                  std::string_view version) {
  Manifests manifests;
  Findings findings;
  for (const YamlDocument& document : documents) collect(document, manifests, findings);
  std::vector<std::string> pool_names;
  for (const auto& [name, pool] : manifests.pools) pool_names.push_back(name);
  const std::vector<OsConfigWithLogins> os_configs = read_os_configs(documents, pool_names, findings);
  machineconfig::check_one_per_pool(pool_objects(manifests), manifests.settings, findings);
  if (!manifests.controller && !findings.has_errors()) findings.error({}, "", "ControllerConfig not found in the manifests");
  TRY(findings.to_result());
  const ControllerConfig& controller = *manifests.controller;
  if (controller.version != version) {
    return error(Code::invalid, "the ControllerConfig has version '{}', but this program has {}", controller.version, version);
  }
  const std::vector<MachineConfig> configs = TRY(all_configs(manifests, TRY(docker_config(pull_secret))));
  const machineconfig::RenderBase base{controller.os_image, controller.extensions_image, controller.version};
  RenderedFiles files, pools;
  std::map<std::string, MachineConfig> rendered_configs;
  for (const auto& [name, pool] : manifests.pools) {
    const machineconfig::Rendered rendered = TRY(machineconfig::render(pool, configs, base));
    // Mode 0600: they contain the pull secret.
    files.push_back(
        {"machine-configs/" + rendered.config.name + ".yaml", emit_yaml(machineconfig::to_json(rendered.config)), 0600});
    pools.push_back({"machine-pools/" + name + ".yaml", emit_yaml(machineconfig::pool_with(pool, rendered))});
    rendered_configs.emplace(name, rendered.config);
  }
  files.push_back({"controller-config/machine-config-controller.yaml", emit_yaml(machineconfig::to_json(controller))});
  if (manifests.api_server) files.push_back({"api-server/api-server.yaml", emit_yaml(*manifests.api_server)});
  RenderedFiles os_builds = TRY(os_build_files(os_configs, rendered_configs, controller));
  std::ranges::move(os_builds, std::back_inserter(files));
  std::ranges::move(pools, std::back_inserter(files));
  return files;
}

Result<> run_controller_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "manifest-dir", .required = true},
                                   {.name = "dest-dir", .required = true},
                                   {.name = "pull-secret", .required = true},
                                   {.name = "payload-version", .required = true}};
  const Flags flags = TRY(parse_flags("machine-config-controller bootstrap", table, arguments));
  sys::Files& files = environment.files;
  const std::string& folder = flags.text("manifest-dir");
  std::vector<YamlDocument> documents;
  for (const std::string& name : TRY(files.list(folder))) {
    const std::string path = folder + "/" + name;
    const std::optional<sys::FileInfo> info = TRY(files.info(path));
    if (!info || info->kind != sys::FileKind::file) continue;
    std::vector<YamlDocument> more = TRY(parse_yaml_documents(TRY(files.read(path)), path));
    std::ranges::move(more, std::back_inserter(documents));
  }
  const Json secret = TRY(read_yaml(files, flags.text("pull-secret")));
  const RenderedFiles rendered = TRY(render_machine_config_pools(documents, secret, flags.text("payload-version")));
  return write_rendered(files, flags.text("dest-dir"), rendered);
}

}  // namespace slipway::components::machine_config_operator
