// manifests/ and openshift/ as a whole: merges the generated files with the user's changes and validates the result.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid, with all findings and their places: a file that is not YAML, an object without apiVersion, kind or name, two
// objects with the same group, kind, namespace and name, a missing file that the bootstrap machine reads
Result<ManifestSet> make_manifest_set(const CommonManifests& common, const OpenshiftManifests& openshift, const UserFiles& user);

// Overrides that keep the cluster-version operator from changing the objects, until the bootstrap restores the user's overrides.
// As in openshift/installer pkg/asset/ignition/bootstrap/cvoignore.go. errors: none for results of make_manifest_set
Result<CvoOverrides> make_cvo_overrides(const ManifestSet& manifests);

}  // namespace slipway::assets
