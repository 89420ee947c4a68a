// Mirrors of image registries from ImageDigestMirrorSets and similar objects, for containerd on machines.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Whether objects of this kind define mirrors: ImageDigestMirrorSet, ImageTagMirrorSet, ImageContentSourcePolicy.
bool names_mirrors(std::string_view kind);

// 99-ROLE-generated-registries with /etc/containerd/certs.d/HOST/hosts.toml for every registry with mirrors; empty if there are
// no mirrors. Pure.
//
// containerd supports mirrors of registries, not of repositories: it requests the mirror's prefix plus the full path of the
// image. A mirror's path must therefore end with the path of the source, and all mirrors of a registry are used for each of its
// images.
//
//   ca_file  with the authorities of the mirrors' certificates; empty: those of the system
//   errors   invalid, listing all mirrors that containerd does not support
Result<std::vector<MachineConfig>> registry_configs(std::string_view role, const std::vector<Json>& mirror_sets,
                                                    std::string_view controller_version, std::string_view ca_file = "");

}  // namespace slipway::machineconfig
