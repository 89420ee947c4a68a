// openshift/: Secrets, user data, machines and MachineConfigs of the cluster.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: those of the platform's machines
Result<OpenshiftManifests> make_openshift_manifests(const config::InstallConfig& config, const Environment& environment,
                                                    const ClusterId& id, const KubeadminPassword& password,
                                                    const ServerToken& token, const PointerConfigs& pointers,
                                                    const PointerEdits& edits);

}  // namespace slipway::assets
