// Image manifests and indexes of OCI and Docker (schema 2): what an image is made of. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "release/digest.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

struct Descriptor {
  std::string media_type;
  Digest digest;
  std::uint64_t size = 0;
  std::map<std::string, std::string> annotations{};
  std::string architecture{};  // of an index's entries; empty when not said

  bool operator==(const Descriptor&) const = default;
};

// A manifest as it was stored: the bytes are what the digest is of, so they are kept and passed on unchanged.
struct RawManifest {
  std::string media_type;
  std::string bytes;
  Digest digest;
};

struct ImageManifest {
  Descriptor config;
  std::vector<Descriptor> layers;  // bottom first
};

struct ImageIndex {
  std::vector<Descriptor> manifests;
};

// Registries refuse larger ones too (4 MB is what they must take).
inline constexpr std::uint64_t largest_manifest = 8u << 20;

bool is_index(std::string_view media_type);

// What a document says it is, else what it looks like: an index when it has a list of manifests, an image manifest otherwise.
// For places that do not keep media types.
std::string guess_media_type(std::string_view bytes);

// errors: invalid, naming the field: not JSON, schemaVersion other than 2 (schema 1 manifests too), a descriptor without
// media type, digest or size, a size that is negative, a document that says it is something else than its media type, or that
// could be taken for both an index and a manifest
Result<ImageManifest> parse_image_manifest(const RawManifest& raw);
Result<ImageIndex> parse_image_index(const RawManifest& raw);

}  // namespace slipway::release
