#include "components/cluster_bootstrap/manifests.h"

#include "base/findings.h"
#include "base/yaml.h"
#include "components/render/manifest_files.h"

namespace slipway::components::cluster_bootstrap {

namespace {

void check(const YamlDocument& document, Findings& findings) {
  const Json& object = document.value;
  const std::string_view kind = find_string(object, {"kind"}).value_or("");
  if (kind.empty() || find_string(object, {"apiVersion"}).value_or("").empty()) {
    findings.error(document.place_of(""), "", "not a Kubernetes object, apiVersion and kind are required");
  } else if (kind.ends_with("List") && find(object, {"items"})) {
    findings.error(document.place_of("items"), "items", "a {} is not a manifest", kind).hint("put each item into its own file");
  } else if (kube::name_of(object).empty()) {
    findings.error(document.place_of("metadata"), "metadata.name", "missing");
  }
}

}  // namespace

Result<std::vector<kube::Manifest>> read_manifests(sys::Files& files, Log& log, const std::string& folder) {
  std::vector<kube::Manifest> manifests;
  Findings findings;
  for (const std::string& path : TRY(files_below(files, folder))) {
    const std::string text = TRY(files.read(folder + "/" + path));
    Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text, path);
    if (!documents.ok()) {
      findings.error({}, "", "{}", documents.error().message());
      continue;
    }
    const std::size_t count = documents->size();
    if (count == 0) findings.error({path}, "", "the file contains no object");
    if (count > 1)
      log.warn("{}: contains several documents; the cluster-bootstrap of other releases creates only the first one", path);
    for (std::size_t i = 0; i < count; ++i) {
      YamlDocument& document = documents.value()[i];
      check(document, findings);
      manifests.push_back({count == 1 ? path : fmt::format("{} ({})", path, i + 1), std::move(document.value)});
    }
  }
  TRY(findings.to_result());
  return manifests;
}

}  // namespace slipway::components::cluster_bootstrap
