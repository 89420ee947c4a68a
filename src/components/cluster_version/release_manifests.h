// The manifests of a release image: those of the cluster-version operator, which are templates of this program and the CRDs of
// its folder /manifests, and those of all other components in /release-manifests.
#pragma once

#include "components/program/program.h"
#include "components/render/inputs.h"
#include "components/render/manifest_filter.h"
#include "sys/files.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components::cluster_version {

struct VersionSettings {
  std::string release_image;
  std::string profile;
  std::string api_host = "127.0.0.1";  // where the deployment finds the API server
};

// The operator's own manifests, sorted by name. errors: as sys::Files
Result<RenderedFiles> own_manifests(sys::Files& files, const VersionSettings& settings);

// The static pod of the bootstrap machine.
Result<RenderedFile> bootstrap_pod(const VersionSettings& settings);

// Without the documents that do not apply; a file that has none left is gone, one that keeps all is not touched. Pure.
//
//   errors  invalid: what is no YAML
Result<RenderedFiles> keep_applicable(const RenderedFiles& manifests, const ManifestFilter& filter);

// Everything that the image holds as objects, in the order in which an update applies them: by file name.
//
//   errors  invalid, with every place; as sys::Files
Result<std::vector<Manifest>> all_manifests(sys::Files& files, const VersionSettings& settings);

// The version in /release-manifests/release-metadata. errors: invalid: image-references and metadata are not those of a release
Result<std::string> version_of_image(sys::Files& files);

// The filter of a cluster, as its FeatureGate and ClusterVersion have it; what is not given is not judged. Pure.
//
//   version  whose gates count
ManifestFilter filter_of(const std::optional<Json>& feature_gate, const std::optional<Json>& cluster_version,
                         std::string_view version, std::string_view profile);

// The host of status.apiServerInternalURI; nothing when the Infrastructure has none.
std::optional<std::string> internal_api_host(const Json& infrastructure);

}  // namespace slipway::components::cluster_version
