#include "assets/manifests/image_mode.h"

#include "base/digest.h"
#include "base/template.h"
#include "base/yaml.h"
#include "data/data.h"
#include "machineconfig/os_config.h"

#include <algorithm>

namespace slipway::assets {

namespace {

using config::ImageMode;
using machineconfig::OsConfig;

constexpr std::string_view group = "machineconfiguration.openshift.io", kind = "MachineOSConfig";
constexpr std::string_view name_space = "openshift-machine-config-operator";
// The checks refuse them.
constexpr std::string_view repository_to_complete = "registry.example.com/CHANGE-ME", login_to_complete = "CHANGE-ME";

std::vector<std::string> roles_of(const config::InstallConfig& config) {
  if (config.compute_replicas() > 0) return {"master", "worker"};
  return {"master"};
}

// The port is that of the registry of a local cluster for machines (provider/local/registry.h).
std::string local_registry(const config::InstallConfig& config) {
  return fmt::format("registry.{}:5443", config.cluster_domain());
}

std::string local_login(const ServerToken& token) {
  return base64_encode("os-builder:" + sha256_hex("login for OS images\n" + token.text.reveal()).substr(0, 32));
}

std::string file_of(std::string_view role) { return fmt::format("openshift/99_machineosconfig_{}.yaml", role); }

// The documents of the MachineOSConfigs, with the places of their fields.
Result<std::vector<YamlDocument>> documents_of(const ManifestSet& manifests) {
  std::vector<YamlDocument> found;
  for (const AssetFile& file : manifests.files) {
    if (file.content.find(kind) == std::string::npos) continue;
    std::vector<YamlDocument> documents = TRY(parse_yaml_documents(file.content, file.path));
    for (YamlDocument& document : documents) {
      const std::string version = text_of(document.value, {"apiVersion"});
      if (text_of(document.value, {"kind"}) == kind && version.starts_with(fmt::format("{}/", group)))
        found.push_back(std::move(document));
    }
  }
  return found;
}

class Checker {
 public:
  Checker(ImageMode mode, const ManifestSet& manifests, Findings& findings)
      : mode_(mode), manifests_(manifests), findings_(findings) {}

  void check(const YamlDocument& document) {
    if (mode_ == ImageMode::none) {
      findings_.error(document.place_of("kind"), "kind", "{} has no effect without imageMode in the install-config", kind)
          .hint("set imageMode.policy to BuildOnBootstrap or PreBuilt, or remove the object");
      return;
    }
    const OsConfig config = machineconfig::read_os_config(document, findings_);
    check_image(document, config);
    check_secret(document, "spec.renderedImagePushSecret.name", config.push_secret, config.repository());
    check_secret(document, "spec.baseImagePullSecret.name", config.base_pull_secret, "");
    pools_.push_back(config.pool);
  }

  void require(const std::string& role) {
    if (std::ranges::find(pools_, role) != pools_.end()) return;
    findings_
        .error({file_of(role)}, "", "missing: imageMode.policy {} needs a {} for pool {}", config::to_string(mode_), kind, role)
        .hint("write it, or run `slipway create manifests --with-machine-os-config` and complete the files that it writes");
  }

 private:
  void check_image(const YamlDocument& document, const OsConfig& config) {
    const std::string annotation(machineconfig::prebuilt_image_annotation), field = "metadata.annotations";
    if (mode_ == ImageMode::pre_built && config.prebuilt_image.empty()) {
      findings_.error(document.place_of(field), field, "{} is missing, imageMode.policy is PreBuilt", annotation)
          .hint("set it to the image, like registry.example.com/team/os@sha256:...");
    }
    if (mode_ == ImageMode::build_on_bootstrap && !config.prebuilt_image.empty()) {
      findings_.error(document.place_of(field), field, "{} names an image, imageMode.policy is BuildOnBootstrap", annotation)
          .hint("remove the annotation, or use the policy PreBuilt");
    }
  }

  // repository: what the Secret must have a login for; empty: anything
  void check_secret(const YamlDocument& document, const std::string& field, const std::string& name,
                    const std::string& repository) {
    if (name.empty()) return;
    const auto secret = std::ranges::find_if(manifests_.objects, [&](const ManifestObject& object) {
      return object.group.empty() && object.kind == "Secret" && object.name == name && object.name_space == name_space;
    });
    if (secret == manifests_.objects.end()) {
      findings_.error(document.place_of(field), field, "no manifest has the Secret {} in namespace {}", name, name_space)
          .hint("add its manifest to openshift/");
      return;
    }
    const Result<Secret> logins = machineconfig::logins_of(secret->value);
    if (!logins.ok()) {
      findings_.error({secret->path}, "", "{}", logins.error().message());
    } else if (!repository.empty() && !machineconfig::has_login(logins.value(), repository)) {
      findings_.error({secret->path}, "", "Secret {} has no login for {}, where {} pushes to", name, repository, document.name);
    }
  }

  const ImageMode mode_;
  const ManifestSet& manifests_;
  Findings& findings_;
  std::vector<std::string> pools_;
};

}  // namespace

Secret os_registry_login(const config::InstallConfig& config, const ServerToken& token) {
  if (config.platform.type != "local" || config.image_mode == ImageMode::none) return Secret();
  const Json auths = {{local_registry(config), {{"auth", local_login(token)}}}};
  return Secret(emit_json({{"auths", auths}}, JsonStyle::pretty));
}

Result<AssetFiles> machine_os_configs(const config::InstallConfig& config, const ServerToken& token) {
  AssetFiles files;
  const auto add = [&](const std::string& path, std::string_view source, const TemplateValues& values) -> Result<> {
    std::string content = TRY(fill_template(data::content(data::image_mode(), source), source, values));
    files.push_back({path, std::move(content)});
    return Ok{};
  };
  const bool is_local = config.platform.type == "local";
  const std::string repository = is_local ? local_registry(config) + "/os" : std::string(repository_to_complete);
  const std::string login = is_local ? local_login(token) : std::string(login_to_complete);
  for (const std::string& role : roles_of(config)) {
    const TemplateValues values = {{"ROLE", role},
                                   {"REPOSITORY", fmt::format("{}/{}", repository, role)},
                                   {"REGISTRY", repository.substr(0, repository.find('/'))},
                                   {"LOGIN", login}};
    TRY(add(file_of(role), "machine-os-config.yaml", values));
    TRY(add(fmt::format("openshift/99_machineosconfig_secret_{}.yaml", role), "secret.yaml", values));
  }
  return files;
}

Result<std::vector<std::string>> check_image_mode(const config::InstallConfig& config, const ManifestSet& manifests,
                                                  Target target) {
  const std::vector<YamlDocument> documents = TRY(documents_of(manifests));
  if (documents.empty() && target == Target::manifests && config.image_mode != ImageMode::none) {
    return std::vector<std::string>{fmt::format(
        "imageMode.policy {} needs a {} for each pool in openshift/. `slipway create manifests --with-machine-os-config` "
        "writes files to start from",
        config::to_string(config.image_mode), kind)};
  }
  Findings findings;
  Checker checker(config.image_mode, manifests, findings);
  for (const YamlDocument& document : documents) checker.check(document);
  if (config.image_mode != ImageMode::none) {
    for (const std::string& role : roles_of(config)) checker.require(role);
  }
  TRY(findings.to_result().context("manifests"));
  return std::vector<std::string>();
}

}  // namespace slipway::assets
