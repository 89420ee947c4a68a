// Release: the metadata of a release image: version, components and their images.
//
// A release image has /release-manifests/release-metadata (kind cincinnati-metadata-v0), /release-manifests/image-references
// (an ImageStream with one tag for each component) and the manifests that the cluster-version operator applies.
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
  std::map<std::string, std::string> versions;  // of the component's software: {"kubernetes": "1.36.3"}
};

struct Release {
  std::string version;
  Digest digest;        // of the referenced manifest or index
  std::string created;  // from the image's config; may be empty
  std::map<std::string, std::string> metadata;
  std::map<std::string, Component> components;
  std::vector<std::string> manifests;   // names of the other files in /release-manifests
  std::vector<std::string> previous{};  // versions that can be updated to this one; empty: the release does not say it

  // Versions of all components, merged by name ("kubernetes" -> "1.36.3").
  std::map<std::string, std::string> versions() const;

  // errors: not_found, with similar component names
  Result<const Component*> component(std::string_view name) const;
};

// Builds a Release from the two documents of an image; `created` and `manifests` stay empty. Pure.
//
//   errors  invalid, listing all problems: a missing version, an ImageStream whose name is not the version, duplicate tags, tags
//           without a digest, versions that are not NAME=VERSION
Result<Release> parse_release(const Digest& digest, std::string_view image_references, std::string_view release_metadata);

// The name of this machine's architecture in images: "amd64".
std::string_view machine_architecture();

// Returns an image manifest unchanged; for an index, reads the manifest for this machine's architecture.
//
//   repository  of the index
//   errors      those of ImageSource; invalid: no manifest for this architecture
Result<RawManifest> manifest_for_this_machine(const sys::Context& context, ImageSource& source, const Reference& repository,
                                              RawManifest manifest);

// Reads a release image. Reads layers from the top down until both documents are found; the list of manifests is from these
// layers.
//
//   errors  those of ImageSource; invalid: not a release image (with what is missing), or no image for this machine's
//           architecture
Result<Release> load_release(const sys::Context& context, ImageSource& source, const Reference& reference);

}  // namespace slipway::release
