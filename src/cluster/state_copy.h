// A copy of what slipway knows about a cluster, in the cluster: a Secret in a namespace of its own. With it and an admin
// kubeconfig, another asset directory can add and remove workers and destroy the cluster.
#pragma once

#include "kube/client.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::cluster {

inline constexpr std::string_view state_space = "slipway-state";
inline constexpr std::string_view state_secret = "cluster-state";

// Writes the copy: metadata.json, the install-config, the journal of resources. It has no key, no kubeconfig and no password of
// the platform; the install-config has the pull secret. Creates the namespace, to which no role of a component gives access.
//
//   folder  the asset directory
//   errors  not_found: the directory has no cluster; those of Files and of the API
Result<> write_state_copy(const sys::Context& context, sys::Files& files, kube::Api& api, const std::string& folder);

// Writes the files of the copy that the directory lacks, with mode 0600. Returns their paths, relative to the directory.
//
//   errors  conflict: the directory belongs to another cluster; not_found: the cluster has no copy; those of Files and of the API
Result<std::vector<std::string>> restore_state_copy(const sys::Context& context, sys::Files& files, kube::Api& api,
                                                    const std::string& folder);

}  // namespace slipway::cluster
