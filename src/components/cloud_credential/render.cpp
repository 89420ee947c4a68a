#include "components/cloud_credential/render.h"

#include "base/flags.h"
#include "base/yaml.h"
#include "components/render/document.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slipway::components::cloud_credential {

namespace {

constexpr std::string_view capability = "CloudCredential";
// Baseline sets without the capability: None, and sets of versions that did not have it yet.
constexpr std::array<std::string_view, 5> sets_without = {"None", "v4.11", "v4.12", "v4.13", "v4.14"};

// The layer openshift-api of the image (images/components.yaml).
constexpr std::string_view crd = "/usr/share/bootkube/manifests/manifests/0000_40_cloud-credential_00_cloudcredentials.crd.yaml";

bool is_enabled(const Json& install_config) {
  const std::string_view baseline = find_string(install_config, {"capabilities", "baselineCapabilitySet"}).value_or("vCurrent");
  if (std::ranges::find(sets_without, baseline) == sets_without.end()) return true;
  const JsonArray& added = find_array(install_config, {"capabilities", "additionalEnabledCapabilities"});
  return std::ranges::any_of(added, [](const Json& name) { return name.is_string() && name.as_string() == capability; });
}

// The install-config in the ConfigMap kube-system/cluster-config-v1, which is in one of the files of a folder.
Result<Json> find_install_config(const Environment& environment, const std::string& folder) {
  for (const std::string& name : TRY(environment.files.list(folder))) {
    const std::optional<sys::FileInfo> info = TRY(environment.files.info(folder + "/" + name));
    if (!info || info->kind == sys::FileKind::directory) continue;
    const std::string text = TRY(environment.files.read(folder + "/" + name));
    const Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text, name);
    if (!documents.ok() || documents->empty()) continue;
    const Json& object = documents->front().value;
    if (find_string(object, {"kind"}) != "ConfigMap" || find_string(object, {"metadata", "name"}) != "cluster-config-v1")
      continue;
    if (find_string(object, {"metadata", "namespace"}) != "kube-system") continue;
    const std::string config = TRY(require_string(object, {"data", "install-config"}).context(name));
    return TRY(parse_yaml(config, name + ": install-config")).value;
  }
  return error(Code::invalid, "{}: ConfigMap kube-system/cluster-config-v1 not found (the installer writes cluster-config.yaml)",
               folder);
}

}  // namespace

Result<CredentialsPlan> plan_credentials(const Json& install_config) {
  CredentialsPlan plan{.enabled = is_enabled(install_config), .mode = text_of(install_config, {"credentialsMode"})};
  if (plan.enabled && !plan.mode.empty() && plan.mode != "Manual") {
    return error(Code::invalid,
                 "install-config: credentialsMode: must be Manual, got {}, because this release creates no credentials",
                 plan.mode);
  }
  return plan;
}

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "dest-dir", .required = true},
                                   {.name = "cloud-credential-operator-image", .required = true},
                                   {.name = "manifests-dir"},
                                   {.name = "log-level", .fallback = "info"}};
  const Flags flags = TRY(parse_flags("cloud-credential-operator render", table, arguments));
  CredentialsPlan plan;
  if (!flags.text("manifests-dir").empty()) {
    const Json install_config = TRY(find_install_config(environment, flags.text("manifests-dir")));
    plan = TRY(plan_credentials(install_config));
  }
  if (!plan.enabled) return Ok{};
  sys::Files& files = environment.files;
  const std::string mode = quoted(plan.mode);
  RenderedFiles rendered = TRY(fill_folder("cloud_credential", "manifests", {{"MODE", mode}}));
  std::string definition = TRY(files.read(std::string(crd)));
  rendered.push_back({"manifests/cco-cloudcredential_v1_operator_config_custresdef.yaml", std::move(definition)});
  // The bootstrap machine copies from this folder without a check that it exists.
  TRY(files.make_directories(flags.text("dest-dir") + "/bootstrap-manifests", 0755));
  return write_rendered(files, flags.text("dest-dir"), rendered);
}

}  // namespace slipway::components::cloud_credential
