// Turns an OCI image of a machine OS into an OSTree commit of this machine.
//
// The tree of the commit is that of the image with two differences: /etc is /usr/etc, as OSTree wants its defaults, and /var is
// empty, since it belongs to the machine. os/commit makes commits with the same trees.
#pragma once

#include "node/program.h"
#include "release/digest.h"
#include "release/image_source.h"
#include "release/reference.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// An image that the machine has as a commit.
struct KnownImage {
  std::string ref;  // "slipway/machine-os"
  std::string commit;
  std::string digest;               // "sha256:..." of the image
  std::vector<std::string> layers;  // digests of the unpacked layers, bottom first; empty if the commit does not have them
};

// The digest of the image that a commit was made from; empty if the commit does not say it. errors: cancelled
Result<std::string> image_digest(const Environment& environment, const std::string& commit);

// errors: those of ostree
Result<std::vector<KnownImage>> known_images(const Environment& environment);

// nullptr if the machine does not have it. Valid as long as the list.
const KnownImage* find_image(const std::vector<KnownImage>& known, const release::Digest& digest);

// The known image whose layers are the lowest layers of another image, and most of them. nullptr if there is none. Pure.
const KnownImage* find_base(const std::vector<KnownImage>& known, const std::vector<std::string>& layers);

// Fetches an image into the repository. Layers that a known image has are neither fetched nor stored again. After a kill the same
// call continues; layers that it has fetched completely are not fetched again.
//
// Needs root, and a writable /sysroot.
//
//   image    has a digest
//   returns  the commit
//   errors   invalid: not an image of a machine OS for this architecture, a layer without the promised content; those of the
//            source and of ostree, with the image
//   time     seconds for a small layer on a known image, otherwise minutes
Result<std::string> import_image(const Environment& environment, release::ImageSource& source, const release::Reference& image);

}  // namespace slipway::node
