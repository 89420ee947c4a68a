// Which manifests of a release apply to a cluster, by their annotations. The rules are those of openshift/library-go
// pkg/manifest.
#pragma once

#include "base/json.h"
#include "release/release.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace slipway::components {

// The properties of the cluster. A field without a value is not checked.
struct ManifestFilter {
  using Names = std::set<std::string, std::less<>>;

  std::string profile{release::default_profile};
  std::string exclude_id{};             // environment variable EXCLUDE_MANIFESTS
  std::string feature_set{};            // spec.featureSet of the FeatureGate; empty: the set that annotations call Default
  std::optional<Names> gates{};         // enabled feature gates
  std::optional<Names> capabilities{};  // enabled capabilities
  std::optional<int> major{};           // major version of the release
};

// Why a manifest does not apply, as a sentence; empty if it applies. A manifest without annotations never applies. Pure.
std::optional<std::string> reason_to_leave_out(const Json& manifest, const ManifestFilter& filter);

// Three of the rules alone. A missing annotation is accepted for the feature set and the major version, but not for the profile.
std::optional<std::string> wrong_profile(const Json& manifest, std::string_view profile);
std::optional<std::string> wrong_feature_set(const Json& manifest, std::string_view feature_set);
std::optional<std::string> wrong_major(const Json& manifest, int major);

// The value of metadata.annotations[key]; empty if it is missing.
std::string_view annotation(const Json& manifest, std::string_view key);

}  // namespace slipway::components
