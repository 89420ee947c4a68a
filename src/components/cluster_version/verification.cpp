#include "components/cluster_version/verification.h"

#include "base/digest.h"
#include "components/render/manifest_filter.h"
#include "kube/types.h"

#include <fmt/core.h>

namespace slipway::components::cluster_version {

namespace {

constexpr std::string_view keys_annotation = "release.openshift.io/verification-config-map";
constexpr std::string_view key_prefix = "verifier-public-key-";

}  // namespace

std::vector<release::TrustedKey> trusted_keys(const std::vector<Manifest>& manifests) {
  std::vector<release::TrustedKey> keys;
  for (const Manifest* manifest : of_kind(manifests, "", "ConfigMap")) {
    if (find_object(manifest->object, {"metadata", "annotations"}).if_contains(keys_annotation) == nullptr) continue;
    for (const auto& entry : find_object(manifest->object, {"data"})) {
      const std::string_view key = entry.key();
      if (!key.starts_with(key_prefix) || !entry.value().is_string()) continue;
      keys.push_back({.name = std::string(key.substr(key_prefix.size())), .pem = std::string(entry.value().get_string())});
    }
  }
  return keys;
}

std::vector<std::string> stored_signatures(const Snapshot& seen, const release::Digest& digest) {
  const std::string prefix = fmt::format("sha256-{}-", digest.hex());
  std::vector<std::string> envelopes;
  for (const Json* object : seen.list(kube::types::config_maps, signature_namespace)) {
    for (const auto& entry : find_object(*object, {"binaryData"})) {
      if (!std::string_view(entry.key()).starts_with(prefix) || !entry.value().is_string()) continue;
      if (Result<std::string> envelope = base64_decode(entry.value().get_string()); envelope.ok())
        envelopes.push_back(std::move(envelope).value());
    }
  }
  return envelopes;
}

Verification verify_image(const std::string& image, const release::Digest& digest, const std::vector<release::TrustedKey>& keys,
                          const Snapshot& seen, const FoundSignatures& found) {
  std::vector<std::string> envelopes = stored_signatures(seen, digest);
  const bool is_asked = found.image == image;
  if (is_asked) envelopes.insert(envelopes.end(), found.envelopes.begin(), found.envelopes.end());
  Result<release::Verified> verified = release::verify_release(envelopes, digest, keys);
  if (verified.ok()) return {.verified = std::move(verified).value()};
  std::string problem = verified.error().message();
  if (is_asked && !found.failure.empty())
    problem += fmt::format("; signatures beside the image cannot be read: {}", found.failure);
  return {.problem = std::move(problem), .is_open = !is_asked};
}

}  // namespace slipway::components::cluster_version
