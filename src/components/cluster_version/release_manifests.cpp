#include "components/cluster_version/release_manifests.h"

#include "base/yaml.h"
#include "components/cluster_version/image.h"
#include "components/render/document.h"
#include "components/render/manifest_files.h"
#include "net/url.h"

#include <algorithm>

namespace slipway::components::cluster_version {

namespace {

constexpr std::string_view own_folder = "/manifests";
constexpr std::string_view release_folder = "/release-manifests";

TemplateValues values_of(const VersionSettings& settings) {
  return {
      {"RELEASE_IMAGE", settings.release_image}, {"CLUSTER_PROFILE", settings.profile}, {"API_HOST", quoted(settings.api_host)}};
}

bool is_manifest(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"); }

// The manifests of a folder of the image.
Result<RenderedFiles> read_folder(sys::Files& files, std::string_view folder) {
  RenderedFiles found;
  for (const std::string& path : TRY(files_below(files, std::string(folder)))) {
    if (!is_manifest(path)) continue;
    std::string text = TRY(files.read(fmt::format("{}/{}", folder, path)));
    found.push_back({path, std::move(text)});
  }
  return found;
}

ManifestFilter::Names names_in(const JsonArray& list) {
  ManifestFilter::Names names;
  for (const Json& item : list) {
    if (item.is_string()) names.emplace(item.as_string());
    if (const auto name = find_string(item, {"name"})) names.emplace(*name);
  }
  return names;
}

}  // namespace

Result<RenderedFiles> own_manifests(sys::Files& files, const VersionSettings& settings) {
  RenderedFiles manifests = TRY(read_folder(files, own_folder));
  for (RenderedFile& file : TRY(fill_folder("cluster_version/manifests", "", values_of(settings)))) {
    file.path.erase(0, 1);
    manifests.push_back(std::move(file));
  }
  std::ranges::sort(manifests, {}, &RenderedFile::path);
  return manifests;
}

Result<RenderedFile> bootstrap_pod(const VersionSettings& settings) {
  std::string text = TRY(fill_text("cluster_version/bootstrap/bootstrap-pod.yaml", values_of(settings)));
  return RenderedFile{"bootstrap/bootstrap-pod.yaml", std::move(text)};
}

Result<RenderedFiles> keep_applicable(const RenderedFiles& manifests, const ManifestFilter& filter) {
  RenderedFiles kept;
  for (const RenderedFile& file : manifests) {
    const std::vector<YamlDocument> documents = TRY(parse_yaml_documents(file.content, file.path));
    std::vector<const Json*> applicable;
    for (const YamlDocument& document : documents) {
      if (!reason_to_leave_out(document.value, filter)) applicable.push_back(&document.value);
    }
    if (applicable.empty()) continue;
    kept.push_back(file);
    if (applicable.size() == documents.size()) continue;
    kept.back().content.clear();
    for (const Json* object : applicable) kept.back().content += "---\n" + emit_yaml(*object);
  }
  return kept;
}

Result<std::vector<Manifest>> all_manifests(sys::Files& files, const VersionSettings& settings) {
  RenderedFiles all = TRY(own_manifests(files, settings));
  for (RenderedFile& file : TRY(read_folder(files, release_folder))) all.push_back(std::move(file));
  std::ranges::stable_sort(all, {}, &RenderedFile::path);
  std::vector<Manifest> manifests;
  for (const RenderedFile& file : all) {
    for (YamlDocument& document : TRY(parse_yaml_documents(file.content, file.path))) {
      manifests.push_back({file.path, std::move(document.value)});
    }
  }
  return manifests;
}

Result<std::string> version_of_image(sys::Files& files) { return TRY(release_of_image(files, "")).version; }

ManifestFilter filter_of(const std::optional<Json>& feature_gate, const std::optional<Json>& cluster_version,
                         std::string_view version, std::string_view profile) {
  ManifestFilter filter{.profile = std::string(profile)};
  if (feature_gate) {
    filter.feature_set = find_string(*feature_gate, {"spec", "featureSet"}).value_or("");
    for (const Json& entry : find_array(*feature_gate, {"status", "featureGates"})) {
      if (find_string(entry, {"version"}) == version) filter.gates = names_in(find_array(entry, {"enabled"}));
    }
  }
  // All other baselines include all capabilities of this release.
  if (cluster_version && find_string(*cluster_version, {"spec", "capabilities", "baselineCapabilitySet"}) == "None") {
    filter.capabilities = names_in(find_array(*cluster_version, {"spec", "capabilities", "additionalEnabledCapabilities"}));
  }
  return filter;
}

std::optional<std::string> internal_api_host(const Json& infrastructure) {
  const auto uri = find_string(infrastructure, {"status", "apiServerInternalURI"});
  if (!uri) return {};
  const Result<net::Url> url = net::parse_url(*uri);
  if (!url.ok()) return {};
  return url->host;
}

}  // namespace slipway::components::cluster_version
