// ImageSource: reads images from a registry or from an OCI layout on disk.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "release/blob_check.h"
#include "release/manifest.h"
#include "release/reference.h"
#include "sys/context.h"

#include <string>

namespace slipway::release {

// Errors of all functions: not_found (no such image or blob), unavailable, denied, invalid (the content does not have the
// requested digest), cancelled. Threads: any.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  // The name of an image of this source in messages: "registry.example.com/r:1.0", "build/release".
  virtual std::string describe(const Reference& reference) const = 0;

  virtual Result<RawManifest> manifest(const sys::Context& context, const Reference& reference) = 0;

  // Passes the blob to the sink in pieces and verifies size and digest. The content is verified only when this returns success.
  // An interrupted download is resumed.
  Result<> blob(const sys::Context& context, const Reference& repository, const Descriptor& blob, const net::Sink& sink) {
    return rest_of_blob(context, repository, BlobCheck(blob), sink);
  }

  // The same for a sink that has the first bytes of the blob, which `had` has taken: passes the other bytes.
  virtual Result<> rest_of_blob(const sys::Context& context, const Reference& repository, BlobCheck had,
                                const net::Sink& sink) = 0;
};

// Reads a blob into memory, for configs and small layers. errors: also invalid: it is larger than `limit` bytes
Result<std::string> blob_text(const sys::Context& context, ImageSource& source, const Reference& repository,
                              const Descriptor& blob, std::uint64_t limit);

}  // namespace slipway::release
