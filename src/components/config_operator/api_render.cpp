#include "components/config_operator/api_render.h"

#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "components/config_operator/feature_gates.h"
#include "components/render/manifest_files.h"
#include "components/render/manifest_filter.h"
#include "release/release.h"

namespace slipway::components::config_operator {

namespace {

constexpr std::string_view program = "cluster-config-api render";

const std::vector<Flag> table = {
    {.name = "asset-output-dir", .required = true},
    {.name = "rendered-manifest-dir", .required = true},
    {.name = "payload-version", .required = true},
    {.name = "cluster-profile", .fallback = std::string(release::default_profile)},
    {.name = "image-manifests", .fallback = "/usr/share/bootkube/manifests/manifests"},
};

// The first document of each YAML file of a folder, with the file's path below the folder. Other files get a warning: the user
// may put files of any kind into the folder of manifests.
Result<std::vector<std::pair<std::string, Json>>> read_objects(const Environment& environment, const std::string& folder) {
  std::vector<std::pair<std::string, Json>> objects;
  for (const std::string& path : TRY(files_below(environment.files, folder))) {
    const std::string text = TRY(environment.files.read(folder + "/" + path));
    Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text, path);
    if (!documents.ok()) {
      environment.context.log.warn("skipping {}", documents.error().message());
    } else if (!documents->empty()) {
      objects.emplace_back(path, std::move(documents->front().value));
    }
  }
  return objects;
}

// Completes all FeatureGates in a folder in place; returns their feature set.
Result<std::string> complete_gates(const Environment& environment, const std::string& folder, const std::vector<Json>& lists,
                                   const std::string& version, const std::string& profile) {
  std::optional<std::string> set;
  for (const auto& [path, object] : TRY(read_objects(environment, folder))) {
    if (find_string(object, {"kind"}) != "FeatureGate" || find_string(object, {"apiVersion"}) != "config.openshift.io/v1")
      continue;
    const std::string of_this(find_string(object, {"spec", "featureSet"}).value_or(""));
    if (set && *set != of_this) {
      return error(Code::invalid, "{}: FeatureGates have feature sets '{}' and '{}' (keep one of them)", path, *set, of_this);
    }
    set = of_this;
    const Json completed = TRY(with_gates(object, lists, version, profile).context(path));
    TRY(environment.files.write(folder + "/" + path, emit_json(completed, JsonStyle::pretty), 0644));
  }
  if (!set) return error(Code::invalid, "{}: no FeatureGate found (the installer writes 99_feature-gate.yaml)", folder);
  return *set;
}

}  // namespace

Result<> run_api_render(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags(program, table, arguments));
  const std::string profile = flags.text("cluster-profile") == "single-node-developer" ? std::string(release::default_profile)
                                                                                       : flags.text("cluster-profile");
  const std::string& version = flags.text("payload-version");
  const int major = TRY(major_version(version).context("--payload-version"));
  const std::string& crds = flags.text("image-manifests");

  std::vector<Json> lists;
  for (auto& [path, list] : TRY(read_objects(environment, crds.substr(0, crds.rfind('/')) + "/featuregates"))) {
    lists.push_back(std::move(list));
  }
  const std::string set = TRY(complete_gates(environment, flags.text("rendered-manifest-dir"), lists, version, profile));

  RenderedFiles rendered;
  for (const std::string& path : TRY(files_below(environment.files, crds))) {
    std::string text = TRY(environment.files.read(crds + "/" + path));
    const YamlDocument document = TRY(parse_yaml(text, path));
    const Json& crd = document.value;
    if (annotation(crd, "release.openshift.io/bootstrap-required") != "true") continue;
    if (wrong_profile(crd, profile) || wrong_feature_set(crd, set)) continue;
    rendered.push_back({"manifests/" + path, std::move(text)});
  }
  if (rendered.empty()) {
    return error(Code::invalid, "{}: no CRD found for cluster profile {} and feature set '{}'", crds, profile, set);
  }
  environment.context.log.info("{} CRDs for version {} (major {})", rendered.size(), version, major);
  return write_rendered(environment.files, flags.text("asset-output-dir"), rendered);
}

}  // namespace slipway::components::config_operator
