#include "components/machine_config_operator/bootstrap_os_builds.h"

#include "machineconfig/os_build.h"
#include "machineconfig/pools.h"
#include "release/reference.h"

#include <algorithm>
#include <utility>

namespace slipway::components::machine_config_operator {

namespace {

using machineconfig::MachineConfig;
using machineconfig::OsBuild;
using machineconfig::OsConfig;

const YamlDocument* find_secret(const std::vector<YamlDocument>& documents, std::string_view name) {
  const auto found = std::ranges::find_if(documents, [&](const YamlDocument& document) {
    const Json& object = document.value;
    return find_string(object, {"apiVersion"}) == "v1" && find_string(object, {"kind"}) == "Secret" &&
           find_string(object, {"metadata", "namespace"}) == machineconfig::os_build_space &&
           find_string(object, {"metadata", "name"}) == name;
  });
  return found == documents.end() ? nullptr : &*found;
}

// The logins of the Secret that a field of a MachineOSConfig names.
std::optional<Secret> read_logins(const std::vector<YamlDocument>& documents, const YamlDocument& config,
                                  const std::string& field, const std::string& name, Findings& findings) {
  const YamlDocument* const secret = find_secret(documents, name);
  if (!secret) {
    findings.error(config.place_of(field), field, "Secret '{}' is not in the manifests", name)
        .hint(fmt::format("add it to namespace {}", machineconfig::os_build_space));
    return std::nullopt;
  }
  Result<Secret> logins = machineconfig::logins_of(secret->value);
  if (logins.ok()) return std::move(logins).value();
  findings.error({secret->name}, "", "{}", logins.error().message());
  return std::nullopt;
}

OsConfigWithLogins read_one(const std::vector<YamlDocument>& documents, const YamlDocument& document,
                            const std::vector<std::string>& pools, Findings& findings) {
  const std::string push_field = "spec.renderedImagePushSecret.name";
  OsConfigWithLogins found{.config = machineconfig::read_os_config(document, findings), .file = document.name};
  const OsConfig& config = found.config;
  if (!config.pool.empty() && std::ranges::find(pools, config.pool) == pools.end()) {
    const std::string field = "spec.machineConfigPool.name";
    findings.error(document.place_of(field), field, "MachineConfigPool '{}' is not in the manifests", config.pool);
  }
  if (!config.push_secret.empty()) {
    const auto logins = read_logins(documents, document, push_field, config.push_secret, findings);
    if (logins) found.push_logins = *logins;
    if (logins && !config.push_spec.empty() && !machineconfig::has_login(*logins, config.repository())) {
      findings.error(document.place_of(push_field), push_field, "Secret '{}' has no login for '{}'", config.push_secret,
                     config.repository());
    }
  }
  if (!config.base_pull_secret.empty()) {
    found.pull_logins = read_logins(documents, document, "spec.baseImagePullSecret.name", config.base_pull_secret, findings);
  }
  return found;
}

std::string text_of_record(const Json& record) { return emit_json(record, JsonStyle::pretty) + "\n"; }

Result<RenderedFile> image_record(const OsConfig& config, OsBuild build, const std::string& path) {
  const release::Reference image = TRY(release::parse_reference(config.prebuilt_image));
  if (!image.digest) return error(Code::invalid, "the pre-built image '{}' has no digest", config.prebuilt_image);
  build.registry = image.registry;
  build.repository = image.registry + "/" + image.repository;
  const machineconfig::OsImage record = {.build = std::move(build), .digest = image.digest->text(), .is_pushed = true};
  return RenderedFile{.path = path, .content = text_of_record(machineconfig::to_json(record))};
}

Result<RenderedFiles> files_of_pool(const OsConfigWithLogins& from, const MachineConfig& rendered,
                                    const machineconfig::ControllerConfig& controller) {
  const std::string& pool = from.config.pool;
  const OsBuild build = TRY(machineconfig::plan_os_build(from.config, rendered, controller));
  RenderedFiles files;
  if (!from.config.prebuilt_image.empty()) {
    files.push_back(
        TRY(image_record(from.config, build, fmt::format("{}/{}/image.json", machineconfig::prebuilt_images_name, pool))));
    return files;
  }
  const std::string folder = fmt::format("{}/{}/", machineconfig::os_builds_name, pool);
  std::vector<machineconfig::BuildFile> content = TRY(machineconfig::build_files(build, rendered, controller));
  for (machineconfig::BuildFile& file : content) files.push_back({folder + file.path, std::move(file.content), file.mode});
  // Not below the folder of the build: a Containerfile can copy whatever is there into the image.
  const std::string logins = fmt::format("{}/{}/", machineconfig::os_logins_name, pool);
  files.push_back({logins + "push.json", from.push_logins.reveal(), 0600});
  if (from.pull_logins) files.push_back({logins + "pull.json", from.pull_logins->reveal(), 0600});
  files.push_back({folder + "build.json", text_of_record(machineconfig::to_json(build))});
  return files;
}

}  // namespace

std::vector<OsConfigWithLogins> read_os_configs(const std::vector<YamlDocument>& documents, const std::vector<std::string>& pools,
                                                Findings& findings) {
  std::map<std::string, OsConfigWithLogins> found;
  for (const YamlDocument& document : documents) {
    const std::string_view version = find_string(document.value, {"apiVersion"}).value_or("");
    if (!version.starts_with("machineconfiguration.openshift.io/")) continue;
    if (find_string(document.value, {"kind"}) != "MachineOSConfig") continue;
    OsConfigWithLogins next = read_one(documents, document, pools, findings);
    const std::string pool = next.config.pool;
    const auto [other, added] = found.try_emplace(pool, std::move(next));
    if (!added && !pool.empty()) {
      findings.error({document.name}, "metadata.name", "pool '{}' already has a MachineOSConfig in {}", pool, other->second.file);
    }
  }
  std::vector<OsConfigWithLogins> sorted;
  for (auto& [pool, config] : found) sorted.push_back(std::move(config));
  return sorted;
}

Result<RenderedFiles> os_build_files(const std::vector<OsConfigWithLogins>& configs,
                                     const std::map<std::string, MachineConfig>& rendered,
                                     const machineconfig::ControllerConfig& controller) {
  RenderedFiles files;
  Findings findings;
  for (const OsConfigWithLogins& from : configs) {
    const auto config = rendered.find(from.config.pool);
    if (config == rendered.end() || !machineconfig::is_control_plane_pool(from.config.pool)) continue;
    Result<RenderedFiles> more = files_of_pool(from, config->second, controller);
    if (more.ok())
      std::ranges::move(more.value(), std::back_inserter(files));
    else
      findings.error({from.file}, "", "the operating system image of pool '{}': {}", from.config.pool, more.error().message());
  }
  TRY(findings.to_result());
  return files;
}

}  // namespace slipway::components::machine_config_operator
