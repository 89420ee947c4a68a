// A cluster's copy of the release with which it was created. The folders of a build change with the next build, but machines that
// are created later must be the same as the first ones.
//
//   STATE/CLUSTER/os/COMMIT          the machine OS, an OSTree system
//   STATE/CLUSTER/registry           the images that the cluster's registry serves
//   STATE/CLUSTER/registry-program   the program of the registry
//   STATE/CLUSTER/images             the images of new machines, in two parts (preload.h)
//
// The files are hard links, so a copy needs little space. Machines cannot write to these files. cluster.json records the commit
// and the release.
#pragma once

#include "provider/local/cluster_config.h"
#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The newest commit of the machine OS in a repository. errors: not_found; invalid: the branch is damaged; as Files
Result<std::string> newest_os(sys::Files& files, const std::string& os_repo);

// The commit of the cluster's oldest machine, for clusters of older versions, which did not record the commit. Empty if there is
// no machine. errors: as Files; invalid: a machine's record is broken
Result<std::optional<std::string>> os_of_machines(sys::Files& files, const ClusterPaths& cluster);

// Whether the cluster or its repository has the commit. errors: as Files
Result<bool> has_os(sys::Files& files, const ClusterPaths& cluster, const std::string& os_repo, const std::string& commit);

// Whether the storage of a registry has the manifest or layer. errors: as Files
Result<bool> registry_has(sys::Files& files, const std::string& storage, std::string_view digest);

// Checks that a release is among the images of the registry. Succeeds for releases other than slipway's own, and if there are no
// images. errors: conflict, with a hint; as Files
Result<> check_release(sys::Files& files, const Images& images, const std::string& release);

// The digests in a record of os/preload, which has lines "sha256:... etcd". Pure.
std::vector<std::string> preloaded_digests(std::string_view record);

// Returns the config with its commit. If the commit is not recorded, records it in cluster.json. errors: as newest_os,
// os_of_machines
Result<ClusterConfig> with_os_record(const sys::Context& context, sys::Files& files, const ClusterPaths& cluster,
                                     ClusterConfig config);

// The next three functions create the cluster's copies if they do not exist. Existing copies never change.
//
//   errors  not_found: the commit or image no longer exists, with a hint; conflict: the parts of the release are from different
//           builds; unavailable: with the message of ostree or cp, for instance for another file system
Result<> keep_os(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                 const ClusterPaths& cluster);
Result<> keep_registry(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                       const ClusterPaths& cluster);
// Call it after keep_registry. If the cluster's registry does not have the images, they are from another build: they are not
// copied, a warning is logged, and machines pull their images.
Result<> keep_images(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                     const ClusterPaths& cluster);

}  // namespace slipway::provider::local
