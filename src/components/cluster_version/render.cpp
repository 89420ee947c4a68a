#include "components/cluster_version/render.h"

#include "base/flags.h"
#include "base/yaml.h"
#include "components/cluster_version/release_manifests.h"
#include "components/cluster_version/settings.h"
#include "components/render/inputs.h"

namespace slipway::components::cluster_version {

namespace {

Result<std::optional<Json>> read_if_given(sys::Files& files, const std::string& path) {
  if (path.empty()) return std::optional<Json>();
  return std::optional(TRY(read_yaml(files, path)));
}

// The API host in the installer's Infrastructure, which is in the folder of the FeatureGate. Without it the Deployment gets the
// default host, and the operator on the bootstrap machine corrects it.
std::optional<std::string> api_host_of_folder(sys::Files& files, const std::string& feature_gate_path) {
  if (feature_gate_path.empty()) return {};
  const std::string folder = feature_gate_path.substr(0, feature_gate_path.rfind('/') + 1);
  const Result<std::optional<Json>> infrastructure = read_if_given(files, folder + "cluster-infrastructure-02-config.yml");
  if (!infrastructure.ok()) return {};
  return internal_api_host(*infrastructure.value());
}

}  // namespace

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "output-dir", .required = true},
                                   {.name = "release-image", .required = true},
                                   {.name = "cluster-version-manifest-path"},
                                   {.name = "feature-gate-manifest-path"}};
  const Flags flags = TRY(parse_flags("cluster-version-operator render", table, arguments));
  sys::Files& files = environment.files;
  const std::string version = TRY(version_of_image(files));
  const std::string& gate_path = flags.text("feature-gate-manifest-path");
  const std::optional<Json> gate = TRY(read_if_given(files, gate_path).context("--feature-gate-manifest-path"));
  const std::optional<Json> cluster_version =
      TRY(read_if_given(files, flags.text("cluster-version-manifest-path")).context("--cluster-version-manifest-path"));

  VersionSettings settings{.release_image = flags.text("release-image"), .profile = cluster_profile()};
  if (auto host = api_host_of_folder(files, gate_path)) settings.api_host = *host;
  ManifestFilter filter = filter_of(gate, cluster_version, version, settings.profile);
  filter.exclude_id = excluded_manifests();

  const RenderedFiles own = TRY(own_manifests(files, settings));
  RenderedFiles rendered;
  rendered.push_back(TRY(bootstrap_pod(settings)));
  for (RenderedFile& file : TRY(keep_applicable(own, filter))) {
    rendered.push_back({"manifests/" + file.path, std::move(file.content)});
  }
  return write_rendered(files, flags.text("output-dir"), rendered);
}

}  // namespace slipway::components::cluster_version
