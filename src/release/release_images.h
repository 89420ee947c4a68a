// All images of a release, as its source has them.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/release.h"
#include "sys/context.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

// The name of the release image itself in a layout. No component has this name.
inline constexpr std::string_view release_image = "release";

struct ReleaseImage {
  std::string name;  // of its component: "etcd"; release_image; its tag for signatures; empty for one that an index refers to
  Reference from;    // the source repository
  RawManifest manifest;
  std::vector<Descriptor> blobs{};  // of an image; an index has none of its own
};

struct ReleaseBlob {
  Descriptor blob;
  Reference from;
};

// The images of all components, the signatures of the release (signature.h) if there are any, and the release image, which is the
// last one. An image comes before its index. Looks for a component first in the repository of the release, then in the repository
// that the release names.
//
//   errors  those of ImageSource, with the component; invalid: an index in an index
Result<std::vector<ReleaseImage>> collect_images(const sys::Context& context, ImageSource& source, const Reference& reference,
                                                 const Release& release);

// The blobs of the images without duplicates, largest first. Pure.
std::vector<ReleaseBlob> blobs_of(const std::vector<ReleaseImage>& images);

// The tag of an image of that name in a repository for whole releases: "0.1.0-etcd", "0.1.0" for the release image; signatures
// keep theirs. '+' is not allowed in tags and becomes '_'. Pure.
std::string image_tag(const std::string& version, std::string_view name);

}  // namespace slipway::release
