// References name images: "registry:port/repository/path:tag@sha256:...".
#pragma once

#include "base/result.h"
#include "release/digest.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::release {

// A parsed reference. Registry and repository are never empty. If there are tag and digest, the digest is used.
struct Reference {
  std::string registry;    // "localhost:5000", lower case
  std::string repository;  // "slipway/release"
  std::string tag{};       // "0.1.0"; may be empty
  std::optional<Digest> digest{};

  // What to request from a registry: the digest, or the tag, or "latest".
  std::string selector() const;
  Reference with_digest(Digest of) const;

  bool operator==(const Reference&) const = default;
};

// Parses a reference of the distribution specification. The registry is required; there is no default registry.
//
//   errors  invalid, with the problem and the text: no registry, capital letters, empty path components, a malformed tag or
//           digest
Result<Reference> parse_reference(std::string_view text);

// "localhost:5000/slipway/release", for `--to` and mirrors. A tag or a digest is not allowed.
Result<Reference> parse_repository(std::string_view text);

std::string to_string(const Reference& reference);

}  // namespace slipway::release
