// Reads the manifests of a release image: those of the cluster-version operator (templates of this program and the CRDs in
// /manifests) and those of all other components (/release-manifests).
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
  std::string api_host = "127.0.0.1";  // host of the API server for the Deployment
};

// The operator's own manifests, sorted by name. errors: those of sys::Files
Result<RenderedFiles> own_manifests(sys::Files& files, const VersionSettings& settings);

// The static pod of the bootstrap machine.
Result<RenderedFile> bootstrap_pod(const VersionSettings& settings);

// Removes documents that do not apply. A file without remaining documents is removed; a file that keeps all documents is
// unchanged.
// Pure.
//
//   errors  invalid: a file is not YAML
Result<RenderedFiles> keep_applicable(const RenderedFiles& manifests, const ManifestFilter& filter);

// All manifests of the image, in the order in which an update applies them: by file name.
//
//   errors  invalid: a file is not YAML; those of sys::Files
Result<std::vector<Manifest>> all_manifests(sys::Files& files, const VersionSettings& settings);

// The version in /release-manifests/release-metadata. errors: invalid: image-references or release-metadata are invalid
Result<std::string> version_of_image(sys::Files& files);

// The filter of a cluster, from its FeatureGate and ClusterVersion. An object that is not given does not filter. Pure.
//
//   version  the version whose gates apply
ManifestFilter filter_of(const std::optional<Json>& feature_gate, const std::optional<Json>& cluster_version,
                         std::string_view version, std::string_view profile);

// The host of status.apiServerInternalURI; nothing when the field is missing or invalid.
std::optional<std::string> internal_api_host(const Json& infrastructure);

}  // namespace slipway::components::cluster_version
