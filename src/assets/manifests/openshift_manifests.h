// openshift/: what is applied to the cluster besides its description (installer 5.2 to 5.4).
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: those of the platform's machines
Result<OpenshiftManifests> make_openshift_manifests(const config::InstallConfig& config, const Environment& environment,
                                                    const ClusterId& id, const KubeadminPassword& password,
                                                    const PointerConfigs& pointers);

}  // namespace slipway::assets
