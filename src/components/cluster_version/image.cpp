#include "components/cluster_version/image.h"

namespace slipway::components::cluster_version {

Result<release::Release> release_of_image(sys::Files& files, const std::string& root) {
  const std::string folder = root + "/release-manifests/";
  const std::string references = TRY(files.read(folder + "image-references"));
  const std::string metadata = TRY(files.read(folder + "release-metadata"));
  return release::parse_release(release::Digest::of(""), references, metadata);
}

Result<std::string> image_of_component(sys::Files& files, const std::string& root, std::string_view component) {
  const release::Release release = TRY(release_of_image(files, root));
  return to_string(TRY(release.component(component))->image);
}

Result<> run_image(const Environment& environment, const Arguments& arguments) {
  if (arguments.size() != 1) return error(Code::invalid, "usage: cluster-version-operator image NAME");
  environment.print(TRY(image_of_component(environment.files, "", arguments[0])));
  return Ok{};
}

}  // namespace slipway::components::cluster_version
