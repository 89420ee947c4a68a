#include "assets/manifests/image_mode.h"

#include "assets/manifest_file.h"
#include "base/digest.h"
#include "base/template.h"
#include "base/text.h"
#include "base/yaml.h"
#include "data/data.h"
#include "machineconfig/os_build.h"
#include "machineconfig/os_config.h"

#include <algorithm>
#include <map>
#include <set>

namespace slipway::assets {

namespace {

using config::ImageMode;
using machineconfig::OsConfig;

constexpr std::string_view version = "machineconfiguration.openshift.io/v1", kind = "MachineOSConfig";
constexpr std::string_view group = version.substr(0, version.find('/'));
constexpr std::string_view push_spec_field = "spec.renderedImagePushSpec", annotations_field = "metadata.annotations";
// In place of what only the user knows. The checks refuse it.
constexpr std::string_view to_complete = "CHANGE-ME";
constexpr std::string_view repository_to_complete = "registry.example.com/CHANGE-ME";
constexpr std::string_view file_prefix = "openshift/99_machineosconfig_";

std::vector<std::string> roles_of(const config::InstallConfig& config) {
  if (config.compute_replicas() > 0) return {"master", "worker"};
  return {"master"};
}

std::string local_login(const ServerToken& token) {
  return base64_encode("os-builder:" + sha256_hex("login for OS images\n" + token.text.reveal()).substr(0, 32));
}

std::string file_of(std::string_view role) { return fmt::format("{}{}.yaml", file_prefix, role); }

bool is_of(const ManifestObject& object, std::string_view object_group, std::string_view object_kind) {
  return object.group == object_group && object.kind == object_kind;
}

// What the user has to do, before there are MachineOSConfigs of the user.
std::string how_to_begin(ImageMode mode, const ManifestSet& manifests) {
  std::vector<std::string> incomplete;
  for (const AssetFile& file : manifests.files) {
    if (is_machine_os_config_file(file.path) && file.content.find(to_complete) != std::string::npos)
      incomplete.push_back(file.path);
  }
  if (!incomplete.empty()) {
    return fmt::format("complete {}: replace {} in them, then check them with `slipway create manifests`", join(incomplete, ", "),
                       to_complete);
  }
  return fmt::format(
      "imageMode.policy {} needs a {} for each pool in openshift/. `slipway create manifests "
      "--with-machine-os-config` writes files to start from",
      config::to_string(mode), kind);
}

bool has_to_complete(const Json& value, std::initializer_list<std::string_view> keys) {
  return text_of(value, keys).find(to_complete) != std::string::npos;
}

class Checker {
 public:
  Checker(const config::InstallConfig& config, const ManifestSet& manifests, Findings& findings)
      : config_(config), mode_(config.image_mode), manifests_(manifests), findings_(findings) {}

  const std::vector<std::string>& notes() const { return notes_; }

  Result<> check_all() {
    for (const ManifestObject& object : manifests_.objects) {
      if (!is_of(object, group, kind)) continue;
      const YamlDocument document = TRY(document_of(object, manifests_));
      TRY(check(document));
    }
    return Ok{};
  }

  void require(const std::string& role) {
    if (pools_.contains(role)) return;
    findings_
        .error({file_of(role)}, "", "missing: imageMode.policy {} needs a {} for pool {}", config::to_string(mode_), kind, role)
        .hint("write it, or run `slipway create manifests --with-machine-os-config` and complete the files that it writes");
  }

 private:
  Result<> check(const YamlDocument& document) {
    if (mode_ == ImageMode::none) {
      findings_.error(document.place_of("kind"), "kind", "{} has no effect without imageMode in the install-config", kind)
          .hint("set imageMode.policy to BuildOnBootstrap or PreBuilt, or remove the object");
      return Ok{};
    }
    if (text_of(document.value, {"apiVersion"}) != version)
      findings_.error(document.place_of("apiVersion"), "apiVersion", "is not {}", version).hint("change it to this version");
    Findings found;
    const OsConfig config = machineconfig::read_os_config(document, found);
    const bool has_repository = std::ranges::find(found.all(), push_spec_field, &Finding::field) == found.all().end();
    check_completed(document, std::move(found));
    check_image(document, config);
    check_pool(document, config);
    if (has_repository) check_pulling(config);
    TRY(check_secret(document, "spec.renderedImagePushSecret.name", config.push_secret, has_repository ? &config : nullptr));
    return check_secret(document, "spec.baseImagePullSecret.name", config.base_pull_secret, nullptr);
  }

  // Replaces the findings of values that the user has not completed.
  void check_completed(const YamlDocument& document, Findings found) {
    std::set<std::string_view> incomplete;
    const auto expect = [&](std::string_view field, std::initializer_list<std::string_view> keys, std::string hint) {
      if (!has_to_complete(document.value, keys)) return;
      incomplete.insert(field);
      findings_.error(document.place_of(field), std::string(field), "still has {}", to_complete).hint(std::move(hint));
    };
    expect(push_spec_field, {"spec", "renderedImagePushSpec"},
           "write where the image is stored, like registry.example.com/team/os:latest");
    expect(annotations_field, {"metadata", "annotations", machineconfig::prebuilt_image_annotation},
           "write the image with its digest, like registry.example.com/team/os@sha256:...");
    for (const Finding& each : found.all()) {
      if (!incomplete.contains(each.field)) findings_.add(each);
    }
  }

  void check_image(const YamlDocument& document, const OsConfig& config) {
    const std::string annotation(machineconfig::prebuilt_image_annotation), field(annotations_field);
    if (mode_ == ImageMode::pre_built && config.prebuilt_image.empty()) {
      findings_.error(document.place_of(field), field, "{} is missing, imageMode.policy is PreBuilt", annotation)
          .hint("set it to the image, like registry.example.com/team/os@sha256:...");
    }
    if (mode_ == ImageMode::build_on_bootstrap && !config.prebuilt_image.empty()) {
      findings_.error(document.place_of(field), field, "{} names an image, imageMode.policy is BuildOnBootstrap", annotation)
          .hint("remove the annotation, or use the policy PreBuilt");
    }
  }

  // Every machine pulls the image with the pull secret.
  void check_pulling(const OsConfig& config) {
    const std::string& prebuilt = config.prebuilt_image;
    const std::string repository = prebuilt.empty() ? config.repository() : prebuilt.substr(0, prebuilt.find('@'));
    const std::string registry = repository.substr(0, repository.find('/'));
    const bool is_local = config_.platform.type == "local" && registry == local_os_registry(config_);
    if (repository.empty() || is_local || machineconfig::has_login(config_.pull_secret, repository)) return;
    std::string note = fmt::format(
        "pullSecret has no login for {}, so machines can boot the image only if everybody may pull it (add a login for {} to "
        "pullSecret, unless the repository is public)",
        repository, registry);
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
  }

  void check_pool(const YamlDocument& document, const OsConfig& config) {
    if (config.pool.empty()) return;
    const std::string field = "spec.machineConfigPool.name";
    const Place place = document.place_of(field);
    const auto [first, is_new] = pools_.emplace(config.pool, place);
    if (is_new) return;
    findings_.error(place, field, "pool {} has another {}, at {}", config.pool, kind, to_string(first->second))
        .hint("a pool has one: remove the other");
  }

  // pushing: the Secret must have a login for its repository; nullptr: any login will do
  Result<> check_secret(const YamlDocument& document, const std::string& field, const std::string& name,
                        const OsConfig* pushing) {
    if (name.empty()) return Ok{};
    const auto secret = std::ranges::find_if(manifests_.objects, [&](const ManifestObject& object) {
      return is_of(object, "", "Secret") && object.name == name && object.name_space == machineconfig::os_build_space;
    });
    if (secret == manifests_.objects.end()) {
      findings_
          .error(document.place_of(field), field, "no manifest has the Secret {} in namespace {}", name,
                 machineconfig::os_build_space)
          .hint("add its manifest to openshift/");
      return Ok{};
    }
    const YamlDocument source = TRY(document_of(*secret, manifests_));
    const std::string content_field = find(secret->value, {"stringData"}) ? "stringData" : "data";
    const Place place = source.place_of(content_field);
    // Several objects may use one Secret. Its own faults are reported once.
    const bool is_first = secrets_.insert(name).second;
    if (has_to_complete(secret->value, {"stringData", ".dockerconfigjson"})) {
      if (is_first)
        findings_.error(place, content_field, "Secret {} still has {}", name, to_complete)
            .hint("write the registry, and USER:PASSWORD in base64");
      return Ok{};
    }
    const Result<Secret> logins = machineconfig::logins_of(secret->value);
    if (!logins.ok()) {
      if (is_first) findings_.error(place, content_field, "{}", logins.error().message());
    } else if (pushing && !machineconfig::has_login(logins.value(), pushing->repository())) {
      findings_
          .error(place, content_field, "Secret {} has no login for {}, where {} {} pushes to", name, pushing->repository(), kind,
                 text_of(document.value, {"metadata", "name"}))
          .hint(fmt::format("add a login for {}", pushing->registry()));
    }
    return Ok{};
  }

  const config::InstallConfig& config_;
  const ImageMode mode_;
  const ManifestSet& manifests_;
  Findings& findings_;
  std::vector<std::string> notes_;
  std::map<std::string, Place> pools_;
  std::set<std::string> secrets_;
};

}  // namespace

std::string local_os_registry(const config::InstallConfig& config) {
  return fmt::format("registry.{}:{}", config.cluster_domain(), local_os_registry_port);
}

Secret os_registry_login(const config::InstallConfig& config, const ServerToken& token) {
  if (config.platform.type != "local" || config.image_mode == ImageMode::none) return Secret();
  const Json auths = {{local_os_registry(config), {{"auth", local_login(token)}}}};
  return Secret(emit_json({{"auths", auths}}, JsonStyle::pretty));
}

bool is_machine_os_config_file(std::string_view path) { return path.starts_with(file_prefix); }

Result<AssetFiles> machine_os_configs(const config::InstallConfig& config, const ServerToken& token) {
  AssetFiles files;
  const auto filled = [](std::string_view source, const TemplateValues& values) {
    return fill_template(data::content(data::image_mode(), source), source, values);
  };
  const bool is_local = config.platform.type == "local";
  const std::string registry = is_local ? local_os_registry(config) + "/os" : std::string(repository_to_complete);
  const std::string login = is_local ? local_login(token) : std::string(to_complete);
  for (const std::string& role : roles_of(config)) {
    TemplateValues values = {{"ROLE", role},
                             {"REPOSITORY", fmt::format("{}/{}", registry, role)},
                             {"REGISTRY", registry.substr(0, registry.find('/'))},
                             {"LOGIN", login},
                             {"DIGEST", std::string(to_complete)}};
    const bool is_pre_built = config.image_mode == ImageMode::pre_built;
    values["ANNOTATIONS"] = is_pre_built ? TRY(filled("pre-built-image.yaml", values)) : "";
    std::string os_config = TRY(filled("machine-os-config.yaml", values));
    std::string secret = TRY(filled("secret.yaml", values));
    files.push_back({file_of(role), std::move(os_config)});
    files.push_back({file_of("secret_" + role), std::move(secret)});
  }
  return files;
}

Result<std::vector<std::string>> check_image_mode(const config::InstallConfig& config, const ManifestSet& manifests,
                                                  const UserFiles& user, Target target) {
  const bool is_changed = std::ranges::any_of(user.files, [&](const auto& each) {
    return is_machine_os_config_file(each.first) || std::ranges::any_of(manifests.objects, [&](const ManifestObject& object) {
             return object.path == each.first && is_of(object, group, kind);
           });
  });
  Findings findings;
  Checker checker(config, manifests, findings);
  TRY(checker.check_all());
  if (config.image_mode != ImageMode::none) {
    for (const std::string& role : roles_of(config)) checker.require(role);
  }
  if (findings.has_errors() && target == Target::manifests && config.image_mode != ImageMode::none && !is_changed)
    return std::vector<std::string>{how_to_begin(config.image_mode, manifests)};
  TRY(findings.to_result().context("manifests"));
  return checker.notes();
}

}  // namespace slipway::assets
