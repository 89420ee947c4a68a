// ImageSource: where images are read from, a registry or an OCI layout on disk. Readers of releases do not care which.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "release/manifest.h"
#include "release/reference.h"
#include "sys/context.h"

#include <string>

namespace slipway::release {

// Errors of both: not_found (no such image or blob), unavailable, denied, invalid (what came does not have the digest it was
// asked by: the content is never handed out as if it were good), cancelled. Threads: any.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  // What messages call an image of this place: "registry.example.com/r:1.0", "build/release".
  virtual std::string describe(const Reference& reference) const = 0;

  virtual Result<RawManifest> manifest(const sys::Context& context, const Reference& reference) = 0;

  // Hands the blob to the sink in pieces and checks size and digest on the way; a sink must not use what it was given for
  // good before this has returned success. A download that breaks off is taken up again where it broke.
  virtual Result<> blob(const sys::Context& context, const Reference& repository, const Descriptor& blob,
                        const net::Sink& sink) = 0;
};

// A blob as text, for configs and small layers. errors: also invalid when it is larger than `limit` bytes
Result<std::string> blob_text(const sys::Context& context, ImageSource& source, const Reference& repository,
                              const Descriptor& blob, std::uint64_t limit);

}  // namespace slipway::release
