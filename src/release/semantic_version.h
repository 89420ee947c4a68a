// Versions of releases and of Kubernetes: "4.1.12", "v1.36.3", "0.2.0-rc.1+build" (semver.org). Pure.
#pragma once

#include "base/result.h"

#include <compare>
#include <string>
#include <string_view>

namespace slipway::release {

struct SemanticVersion {
  int major = 0, minor = 0, patch = 0;
  std::string pre_release{};  // "rc.1"; empty for a release. Build metadata is left out: it has no order

  // By precedence: a pre-release is older than its release; pre-releases are compared part by part, numbers as numbers.
  std::strong_ordering operator<=>(const SemanticVersion& other) const;
  bool operator==(const SemanticVersion&) const = default;
};

// Accepts a leading "v". errors: invalid: not three numbers
Result<SemanticVersion> parse_semantic_version(std::string_view text);

}  // namespace slipway::release
