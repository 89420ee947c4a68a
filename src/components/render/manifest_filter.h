// Which manifests of a release apply to a cluster, by the annotations of a manifest. The rules are those of openshift/library-go
// pkg/manifest.
#pragma once

#include "base/json.h"
#include "release/release.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace slipway::components {

// The cluster as manifests are judged by it. What is nothing is not judged.
struct ManifestFilter {
  using Names = std::set<std::string, std::less<>>;

  std::string profile{release::default_profile};
  std::string exclude_id{};             // environment variable EXCLUDE_MANIFESTS
  std::string feature_set{};            // spec.featureSet of the FeatureGate; empty is the set that annotations call Default
  std::optional<Names> gates{};         // feature gates that are enabled
  std::optional<Names> capabilities{};  // capabilities that are enabled
  std::optional<int> major{};           // of the release's version
};

// Why a manifest does not apply, as a sentence; nothing when it does. A manifest without any annotations never does. Pure.
std::optional<std::string> reason_to_leave_out(const Json& manifest, const ManifestFilter& filter);

// Three of the rules alone; feature set and major version are fine where the annotation is missing, the profile is not.
std::optional<std::string> wrong_profile(const Json& manifest, std::string_view profile);
std::optional<std::string> wrong_feature_set(const Json& manifest, std::string_view feature_set);
std::optional<std::string> wrong_major(const Json& manifest, int major);

// The value of metadata.annotations[key]; empty when there is none.
std::string_view annotation(const Json& manifest, std::string_view key);

}  // namespace slipway::components
