// metadata.json: the data that `destroy` and `gather` need. Its fields follow openshift/installer pkg/types/clustermetadata.go.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

Metadata make_metadata(const config::InstallConfig& config, const ClusterId& id);

// The feature gates of an install-config: {enabled, disabled}; null if there are none. Also used by the FeatureGate manifest.
Json custom_feature_set(const config::InstallConfig& config);

}  // namespace slipway::assets
