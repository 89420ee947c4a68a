// Logins of registries for containerd on machines.
#pragma once

#include "base/result.h"
#include "base/secret.h"

namespace slipway::machineconfig {

// The logins of a pull secret as tables of containerd's CRI plugin (version 2 of its configuration), to be appended to a file
// that has `config_path` of the registries. containerd uses them for mirrors: the kubelet knows only the login of the registry
// that an image is named after. Empty if there are none. Pure.
//
// containerd has one login for each registry, so a login for a part of one ("quay.io/team") is left out. The kubelet uses it for
// images that are named after this part.
//
//   pull_secret  a docker config: {"auths": {"registry.example.com:5000": {"auth": "dXNlcjpwYXNzd29yZA=="}}}; may be empty
//   errors       invalid: not a docker config
//
// https://github.com/containerd/containerd/blob/release/1.7/docs/cri/registry.md
Result<Secret> registry_logins(const Secret& pull_secret);

}  // namespace slipway::machineconfig
