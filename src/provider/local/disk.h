// A machine's disk: a layer of its own over an OSTree system that the machines of a cluster have together (overlayfs), and a
// /var, which is no layer: containerd keeps layers of its own there, and those cannot lie on one.
#pragma once

#include "provider/local/boot_entry.h"
#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>
#include <utility>

namespace slipway::provider::local {

// Makes the disk over a commit that the cluster has (kept_release.h), in place of whatever is there: one deployment, an empty
// /var.
//
//   errors   unavailable: what cp says; as Files
//   time     20 ms
Result<> make_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& commit,
                   const ClusterPaths& cluster, const MachinePaths& machine);

// A disk where it can be used, in the mount namespace of this process, until this goes or the process ends.
class MountedDisk {
 public:
  // images: where the cluster's are mounted, for a machine that has links into them (preload.h)
  // errors: not_found: there is no disk; as Files; unavailable, denied: what the kernel says
  static Result<MountedDisk> mount(sys::Files& files, const ClusterPaths& cluster, const MachinePaths& machine,
                                   const std::string& images, std::string place);
  MountedDisk(MountedDisk&& other) noexcept : place_(std::exchange(other.place_, {})) {}
  MountedDisk& operator=(MountedDisk&&) = delete;
  ~MountedDisk();

 private:
  explicit MountedDisk(std::string place) : place_(std::move(place)) {}

  std::string place_;  // empty: moved away
};

// What firmware boots from a disk now, given where it is mounted: the deployment of the newest boot entry. errors: not_found,
// invalid
Result<Deployment> deployment_to_boot(sys::Files& files, const std::string& sysroot);

// Removes a folder also when files or folders in it are immutable, as OSTree makes the roots of deployments. Takes the attribute
// away only where it stands in the way. errors: as Files
Result<> remove_tree(sys::Files& files, const std::string& folder);

}  // namespace slipway::provider::local
