// One file that carries a release to a place without a network: a tar archive of an OCI image layout.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/reference.h"
#include "sys/context.h"
#include "sys/files.h"

#include <cstdint>
#include <string>

namespace slipway::release {

struct ArchivedRelease {
  std::string version;
  Digest digest;            // of the release image
  std::uint64_t bytes = 0;  // of manifests and blobs
};

// Writes all images of a release into one file. The same release gives the same bytes.
//
//   repository  the repository of the release image in the archive's index: "registry.slipway.invalid/slipway/release"
//   path        the file to write; an existing one is replaced when the archive is complete
//   events      kind "export", name: the path; progress as in CopyProgress
//   errors      those of collect_images and of ImageSource; as for files
Result<ArchivedRelease> export_release(const sys::Context& context, sys::Files& files, ImageSource& source,
                                       const Reference& reference, const std::string& repository, const std::string& path);

// Unpacks an archive into a new folder, which is then an OCI image layout. Verifies the digest of each file and that the release
// is complete. After a failure the folder has a part of the files.
//
//   events  kind "import", name: the path; progress as in CopyProgress, of the archive's own size
//   errors  invalid: not such an archive, a file in it that does not belong to a layout, another content than its digest says,
//           an image without its layers; not_found: no archive; conflict: the folder exists
Result<ArchivedRelease> import_release(const sys::Context& context, sys::Files& files, const std::string& path,
                                       const std::string& folder);

}  // namespace slipway::release
