// Image manifests and indexes of OCI and Docker (schema 2). Pure.
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
  std::string architecture{};  // of an index's entry; may be empty

  bool operator==(const Descriptor&) const = default;
};

// A manifest as stored. The digest covers the exact bytes, so the bytes must not change.
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

// Registries have similar limits; they must accept at least 4 MB.
inline constexpr std::uint64_t largest_manifest = 8u << 20;

bool is_index(std::string_view media_type);

// The media type in the document; without it, an index if the document has a list of manifests, otherwise an image manifest.
// For sources that do not store media types.
std::string guess_media_type(std::string_view bytes);

// errors: invalid, with the field: not JSON, a schemaVersion other than 2 (includes manifests of schema 1), a descriptor without
// media type, digest or size, a negative size, a media type in the document that differs from the stored one, a document that
// could be both an index and a manifest
Result<ImageManifest> parse_image_manifest(const RawManifest& raw);
Result<ImageIndex> parse_image_index(const RawManifest& raw);

}  // namespace slipway::release
