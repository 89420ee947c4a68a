// What a cluster keeps of the release that it was made with. The folders of a build change with the next build, the machines of a
// cluster must not: those that are made later have to be like the first ones.
//
//   STATE/CLUSTER/os/COMMIT          the machine OS, an OSTree system
//   STATE/CLUSTER/registry           the images that its registry serves
//   STATE/CLUSTER/registry-program   the program that serves them
//   STATE/CLUSTER/images             the images that machines begin with, in two parts (preload.h)
//
// All of it is hard links, so it costs folders; machines see none of these files where they could write to them. Which commit and
// which release these are is recorded in cluster.json.
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

// The commit of a cluster that was made before clusters recorded theirs: that of its oldest machine; nothing where it has no
// machine. errors: as Files; invalid: a record of a machine
Result<std::optional<std::string>> os_of_machines(sys::Files& files, const ClusterPaths& cluster);

// Whether the cluster or its repository has a commit. errors: as Files
Result<bool> has_os(sys::Files& files, const ClusterPaths& cluster, const std::string& os_repo, const std::string& commit);

// Whether the storage of a registry has a manifest or a layer. errors: as Files
Result<bool> registry_has(sys::Files& files, const std::string& storage, std::string_view digest);

// A release must be among the images of the registry that its cluster takes over. Fine where it is not slipway's own, or where
// there are no images. errors: conflict, with what to do; as Files
Result<> check_release(sys::Files& files, const Images& images, const std::string& release);

// The digests of a record of os/preload: "sha256:... etcd" a line. Pure.
std::vector<std::string> preloaded_digests(std::string_view record);

// The config with its commit: a cluster without a record gets one, which is written. errors: as newest_os, os_of_machines
Result<ClusterConfig> with_os_record(const sys::Context& context, sys::Files& files, const ClusterPaths& cluster,
                                     ClusterConfig config);

// The following three give the cluster what it does not have yet, and change nothing afterwards.
//
//   errors  not_found: the commit or the image is not to be had any more, with what to do; conflict: the release's parts are of
//           different builds; unavailable: what ostree or cp says, for instance another file system
Result<> keep_os(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                 const ClusterPaths& cluster);
Result<> keep_registry(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                       const ClusterPaths& cluster);
// After keep_registry. Images that the cluster's registry does not have are of another build: they are left out, with a warning,
// and machines pull theirs.
Result<> keep_images(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterConfig& config,
                     const ClusterPaths& cluster);

}  // namespace slipway::provider::local
