// A machine's disk: an overlayfs layer on top of the OSTree system that all machines of a cluster share, and /var. /var is a
// plain folder: containerd keeps overlayfs layers in it, which cannot be on overlayfs.
#pragma once

#include "provider/local/boot_counter.h"
#include "provider/local/boot_entry.h"
#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <optional>
#include <string>
#include <utility>

namespace slipway::provider::local {

// Creates the disk on top of a commit that the cluster has (kept_release.h), with one deployment and an empty /var. Replaces an
// existing disk.
//
//   errors   unavailable: with the message of cp; as Files
//   time     20 ms
Result<> make_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& commit,
                   const ClusterPaths& cluster, const MachinePaths& machine);

// A mounted disk in the mount namespace of this process. The destructor unmounts it.
class MountedDisk {
 public:
  // images: where the images of the cluster are mounted, for machines with links to them (preload.h)
  // errors: not_found: there is no disk; as Files; unavailable, denied: with the message of the kernel
  static Result<MountedDisk> mount(sys::Files& files, const ClusterPaths& cluster, const MachinePaths& machine,
                                   const std::string& images, std::string mount_point);
  MountedDisk(MountedDisk&& other) noexcept : mount_point_(std::exchange(other.mount_point_, {})) {}
  MountedDisk& operator=(MountedDisk&&) = delete;
  ~MountedDisk();

 private:
  explicit MountedDisk(std::string mount_point) : mount_point_(std::move(mount_point)) {}

  std::string mount_point_;  // the mount point; empty after a move
};

// What firmware boots.
struct BootTarget {
  BootEntry entry;
  Deployment deployment;
};

// The boot entry of a disk and the deployment that it boots. sysroot: mount point of the disk. errors: not_found, invalid
Result<BootTarget> boot_target(sys::Files& files, const std::string& sysroot, BootChoice choice);

// The deployment of the newest boot entry. errors: as boot_target
Result<Deployment> newest_deployment(sys::Files& files, const std::string& sysroot);

// The environment block of a disk's boot loader, /boot/grub/grubenv (boot_counter.h). Empty if the disk has no such file, or one
// that GRUB ignores, too. Links are not followed, because a link of the machine could point to a file of the host. errors: as
// Files
Result<std::optional<GrubEnvironment>> read_grub_environment(sys::Files& files, const std::string& sysroot);

// Replaces that file. Call it only if read_grub_environment() found one. errors: invalid: it is too long; as Files
Result<> write_grub_environment(sys::Files& files, const std::string& sysroot, const GrubEnvironment& environment);

// Removes a folder even if files or folders in it are immutable, like the root folders of OSTree deployments. Clears the
// immutable attribute only if the removal fails. errors: as Files
Result<> remove_tree(sys::Files& files, const std::string& folder);

}  // namespace slipway::provider::local
