// References name images: "registry:port/repository/path:tag@sha256:...".
#pragma once

#include "base/result.h"
#include "release/digest.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::release {

// A parsed reference. Registry and repository are never empty; tag and digest may both be there, the digest then decides.
struct Reference {
  std::string registry;    // "localhost:5000", lower case
  std::string repository;  // "slipway/release"
  std::string tag{};       // "0.1.0"; empty when there is none
  std::optional<Digest> digest{};

  // What a registry is asked for: the digest's text, or the tag, or "latest".
  std::string selector() const;
  Reference with_digest(Digest of) const;

  bool operator==(const Reference&) const = default;
};

// Reads a reference as the distribution specification defines it. The registry must be there: slipway never guesses one.
//
//   errors  invalid, with what is wrong and the text: no registry, capital letters, empty components, a tag or digest that is
//           none
Result<Reference> parse_reference(std::string_view text);

// "localhost:5000/slipway/release", for `--to` and mirrors: neither tag nor digest allowed.
Result<Reference> parse_repository(std::string_view text);

std::string to_string(const Reference& reference);

}  // namespace slipway::release
