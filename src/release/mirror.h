// Mirroring: copies a release with all its images into one repository of a registry.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/registry_client.h"
#include "release/release_images.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slipway::release {

struct MirrorPlan {
  Reference target;                  // repository
  std::string version;               // of the release
  std::vector<ReleaseBlob> blobs;    // without duplicates, largest first
  std::vector<ReleaseImage> images;  // images before their index; the release image last: it must not refer to missing images
  std::uint64_t bytes() const;
};

// Keeps the order of the images. Blobs that images share are copied once. Names of images must be unique. Pure.
MirrorPlan plan_mirror(const Reference& target, std::string version, std::vector<ReleaseImage> images);

struct MirrorResult {
  std::uint64_t copied = 0;     // bytes
  std::uint64_t skipped = 0;    // bytes that the target already had
  Reference release;            // the release image in the target repository, by digest
  std::vector<Mirror> mirrors;  // content for a cluster's ImageDigestMirrorSet, one entry for each repository of the release
};

// Reads all manifests, copies the missing blobs in parallel, then pushes the manifests.
//
// Each blob is downloaded to a temporary file and verified before it is uploaded. After a kill or a failure, the target has no
// reference to missing content, and the next run copies only what is missing.
//
//   events   kind "mirror", name: the target; progress has "bytes" (copied or skipped) and "total", finished has
//            "copied" and "skipped"
//   errors   those of ImageSource and RegistryClient, with the blob or component
Result<MirrorResult> mirror_release(const sys::Context& context, ImageSource& source, const Reference& release,
                                    RegistryClient& target_client, const Reference& target);

}  // namespace slipway::release
