// Release: what a release image says about itself: version, components and their images. The payload index of slipway.
//
// A release image holds /release-manifests/release-metadata (kind cincinnati-metadata-v0), /release-manifests/image-references
// (an ImageStream with a tag a component) and the manifests that the cluster-version operator applies.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/reference.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

// The cluster profile whose manifests a cluster gets when nobody chooses another.
inline constexpr std::string_view default_profile = "self-managed-high-availability";

struct Component {
  Reference image;                              // by digest
  std::map<std::string, std::string> versions;  // of what is in it: {"kubernetes": "1.36.3"}
};

struct Release {
  std::string version;
  Digest digest;        // of what the reference named: the release image's manifest or its index
  std::string created;  // as the image's config has it; may be empty
  std::map<std::string, std::string> metadata;
  std::map<std::string, Component> components;
  std::vector<std::string> manifests;  // names of the other files in /release-manifests

  // Of all components, each name once ("kubernetes" -> "1.36.3").
  std::map<std::string, std::string> versions() const;

  // errors: not_found, naming similar components
  Result<const Component*> component(std::string_view name) const;
};

// Builds a Release from the two documents of an image; `created` and `manifests` stay empty. Pure.
//
//   errors  invalid, with every problem: missing version, name of the ImageStream other than the version, tags twice or
//           without a digest, versions that are no name=value
Result<Release> parse_release(const Digest& digest, std::string_view image_references, std::string_view release_metadata);

// The manifest itself, or of an index the one for this machine's architecture.
//
//   repository  where the index came from
//   errors      those of ImageSource; invalid: there is none for this architecture
Result<RawManifest> manifest_for_this_machine(const sys::Context& context, ImageSource& source, const Reference& repository,
                                              RawManifest manifest);

// Reads a release image. Layers are read from the top down and only until both documents are found; the folder's other names
// come from the layers that were read.
//
//   errors  those of ImageSource; invalid: this is no release image (with what it lacks), or it has no image for this machine's
//           architecture
Result<Release> load_release(const sys::Context& context, ImageSource& source, const Reference& reference);

}  // namespace slipway::release
