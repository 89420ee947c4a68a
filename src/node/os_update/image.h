// Turns an OCI image of a machine OS into an OSTree commit of this machine, and adds extensions to such a commit.
//
// The tree of the commit is that of the image with two differences: /etc is /usr/etc, as OSTree wants its defaults, and /var is
// empty, since it belongs to the machine. os/commit makes commits with the same trees.
//
// An image of extensions has one layer for each extension, which goes on top of a machine OS (os/extensions/build). Its label
// "slipway.extensions" has their names, in the order of the layers. A machine fetches the layers of the extensions that it wants.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"
#include "release/digest.h"
#include "release/image_source.h"
#include "release/reference.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// The fields of a MachineConfig that name images.
inline constexpr std::string_view os_image_field = "osImageURL", extensions_image_field = "baseOSExtensionsContainerImage";

// errors: invalid, with the field: malformed, no digest
Result<release::Reference> image_by_digest(std::string_view field, const std::string& image);

// Extensions that a commit has on top of an image.
struct Extensions {
  std::string image{};               // "sha256:..." of the image of extensions; empty if there are none
  std::vector<std::string> names{};  // sorted

  bool operator==(const Extensions&) const = default;
};

// An image that the machine has as a commit, or a commit with extensions on top of it.
struct KnownImage {
  std::string ref;  // "slipway/machine-os"
  std::string commit;
  std::string digest;               // "sha256:..." of the image
  std::vector<std::string> layers;  // digests of the unpacked layers, bottom first; empty if the commit does not have them
  Extensions extensions{};
};

// The digest of the image that a commit was made from; empty if the commit does not say it. errors: cancelled
Result<std::string> image_digest(const Environment& environment, const std::string& commit);

// errors: invalid: malformed, no digest
Result<Extensions> extensions_of(const Images& images);

// The extensions of a commit. errors: cancelled
Result<Extensions> extensions_of(const Environment& environment, const std::string& commit);

// errors: those of ostree
Result<std::vector<KnownImage>> known_images(const Environment& environment);

// The image with exactly these extensions. nullptr if the machine does not have it. Valid as long as the list.
const KnownImage* find_image(const std::vector<KnownImage>& known, const std::string& digest, const Extensions& extensions = {});

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

// Adds extensions of an image to a commit, as a new commit. Content that the machine has is not stored again. After a kill the
// same call continues. dpkg's database of the new commit has their packages.
//
//   base     digest of an image that the machine has
//   image    of the extensions; has a digest
//   names    sorted; not empty
//   errors   not_found: the machine does not have the base; invalid: not an image of extensions for this architecture, extensions
//            that it does not have (with those that it has); those of the source and of ostree, with extension or image
//   time     seconds, and that of the downloads
Result<> add_extensions(const Environment& environment, release::ImageSource& source, const std::string& base,
                        const release::Reference& image, const std::vector<std::string>& names);

// dpkg's database with more packages, which replace those of the same name and architecture. Both texts are paragraphs as in
// /var/lib/dpkg/status. Pure.
std::string add_packages(std::string_view database, std::string_view packages);

// The layers of extensions: for each name its index among those of an image. Pure.
//
//   errors  invalid: the names that the image does not have, and those that it has
Result<std::vector<std::size_t>> find_extensions(const std::vector<std::string>& of_image, const std::vector<std::string>& names);

}  // namespace slipway::node
