// Mirroring: copies a whole release into one repository of a registry.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/registry_client.h"
#include "release/release.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slipway::release {

// What one image or index needs at its new place.
struct MirrorImage {
  std::string tag;  // "0.1.0-etcd", "0.1.0" for the release itself; empty for an image that is found through its index
  Reference from;   // the repository it was found in
  RawManifest manifest;
  std::vector<Descriptor> blobs{};
};

struct MirrorBlob {
  Descriptor blob;
  Reference from;
};

struct MirrorPlan {
  Reference target;                 // repository
  std::vector<MirrorBlob> blobs;    // each once, largest first
  std::vector<MirrorImage> images;  // an index after what it refers to; the release image last: whoever finds it finds everything
  std::uint64_t bytes() const;
};

// Pure; the order of the images is kept. Blobs shared by images are copied once. Equal tags are a broken invariant.
MirrorPlan plan_mirror(const Reference& target, std::vector<MirrorImage> images);

// The tag of a component, or of the release where `component` is empty. A '+' of a version, which no tag may have, becomes '_'.
std::string mirror_tag(const std::string& version, const std::string& component);

struct MirrorResult {
  std::uint64_t copied = 0;     // bytes
  std::uint64_t skipped = 0;    // bytes that were there already
  Reference release;            // at its new place, by digest
  std::vector<Mirror> mirrors;  // what a cluster's mirror set has to say, a row for each repository the release names
};

// Reads all manifests, copies the blobs that are missing, several at once, then pushes the manifests. A component is looked
// for beside the release first, then where the release says it is.
//
// Each blob is in a temporary file and checked before a byte of it goes to the target. A kill or a failure leaves no
// reference to anything that is not whole; the next run copies only what is missing.
//
//   events   kind "mirror", name: the target; progress has "bytes" (copied or there already) and "total", finished has
//            "copied" and "skipped"
//   errors   those of ImageSource and RegistryClient, with the blob or component they are about
Result<MirrorResult> mirror_release(const sys::Context& context, ImageSource& source, const Reference& release,
                                    RegistryClient& target_client, const Reference& target);

}  // namespace slipway::release
