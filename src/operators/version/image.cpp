#include "operators/version/image.h"

#include "release/release.h"

namespace slipway::operators {

Result<std::string> image_of_component(sys::Files& files, const std::string& root, std::string_view component) {
  const std::string folder = root + "/release-manifests/";
  const std::string references = TRY(files.read(folder + "image-references"));
  const std::string metadata = TRY(files.read(folder + "release-metadata"));
  // Inside an image its own digest cannot be known; nobody asks for it here.
  const release::Digest unknown = release::Digest::of("");
  const release::Release release = TRY(release::parse_release(unknown, references, metadata));
  return to_string(TRY(release.component(component))->image);
}

Result<> run_image(const Environment& environment, const Arguments& arguments) {
  if (arguments.size() != 1) return error(Code::invalid, "usage: cluster-version-operator image NAME");
  environment.print(TRY(image_of_component(environment.files, "", arguments[0])));
  return Ok{};
}

}  // namespace slipway::operators
