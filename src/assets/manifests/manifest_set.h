// manifests/ and openshift/ as a whole: ours, what the user did to them, and whether that can work.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid, with all findings and their places: files that are not YAML, objects without a kind or a name, two of one
// group, kind, namespace and name, a missing file that the bootstrap machine reads
Result<ManifestSet> make_manifest_set(const CommonManifests& common, const OpenshiftManifests& openshift, const UserFiles& user);

// The cluster-version operator leaves our objects alone until the bootstrap restores the user's own overrides, as in
// openshift/installer pkg/asset/ignition/bootstrap/cvoignore.go. errors: none that make_manifest_set lets pass
Result<CvoOverrides> make_cvo_overrides(const ManifestSet& manifests);

}  // namespace slipway::assets
