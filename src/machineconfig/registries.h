// Mirrors of image registries, as the cluster's ImageDigestMirrorSets and their kin name them, for the containerd of machines.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Whether an object of this kind names mirrors: ImageDigestMirrorSet, ImageTagMirrorSet, ImageContentSourcePolicy.
bool names_mirrors(std::string_view kind);

// 99-ROLE-generated-registries: /etc/containerd/certs.d/HOST/hosts.toml for every registry that has mirrors; nothing when none
// has. Pure.
//
// containerd knows mirrors of registries, not of repositories: what is asked of a mirror is its own prefix and then the whole
// path of the image. So a mirror has to keep the source's path at the end of its own, and all mirrors of a registry are asked
// for each of its images.
//
//   errors  invalid, with every mirror that containerd cannot express
Result<std::vector<MachineConfig>> registry_configs(std::string_view role, const std::vector<Json>& mirror_sets,
                                                    std::string_view controller_version);

}  // namespace slipway::machineconfig
