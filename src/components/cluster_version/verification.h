// What a cluster knows of the signatures of releases (release/signature.h). Pure.
//
// Trusted are the keys in the manifests of the release that runs: the ConfigMap with the annotation
// release.openshift.io/verification-config-map. The release is chosen by its digest, so they do not change in the cluster, and
// a signed release brings the keys for the next one.
#pragma once

#include "components/controller/view.h"
#include "components/render/inputs.h"
#include "release/signature.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_version {

inline constexpr std::string_view signature_namespace = "openshift-config-managed";
inline constexpr std::string_view signature_label = "release.openshift.io/verification-signatures";

// Empty: the release was built without a key, and nothing can be verified.
std::vector<release::TrustedKey> trusted_keys(const std::vector<Manifest>& manifests);

// The envelopes of ConfigMaps in signature_namespace: keys "sha256-HEX-NUMBER" of binaryData.
std::vector<std::string> stored_signatures(const Snapshot& seen, const release::Digest& digest);

// What is beside an image in its registry.
struct FoundSignatures {
  std::string image{};  // where they were looked for; empty: nowhere yet
  std::vector<std::string> envelopes{};
  std::string failure{};  // why they could not be read
  bool operator==(const FoundSignatures&) const = default;
};

struct Verification {
  std::optional<release::Verified> verified{};
  std::string problem{};  // why not
  bool is_open = false;   // not verified yet, and the registry was not asked yet
};

Verification verify_image(const std::string& image, const release::Digest& digest, const std::vector<release::TrustedKey>& keys,
                          const Snapshot& seen, const FoundSignatures& found);

}  // namespace slipway::components::cluster_version
