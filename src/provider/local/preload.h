// Images that a new machine already has. os/preload creates them in two parts. `state` contains the databases and folders that
// containerd writes to; each machine has a copy. `images` contains files that containerd only reads; all machines of a cluster
// share one read-only mount. `state` has links to the place where a machine sees `images`.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>
#include <string_view>

namespace slipway::provider::local {

// Where a machine sees `images`, below its /var (os/preload uses the same path).
inline constexpr std::string_view images_in_var = "/lib/containerd-images";

// Preloads images for a machine that is off: copies `state` of the folder to lib/containerd below its /var, and creates the mount
// point of `images`.
//
//   errors   conflict: lib/containerd is not empty; unavailable: with the message of cp
//   time     some milliseconds
Result<> preload_images(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& folder,
                        const std::string& var_folder);

// Mounts `images` of the folder in the mount namespace of this process. The mount is an overlay without an upper layer, so a
// machine cannot make it writable. errors: unavailable, denied: with the message of the kernel; as Files
Result<> mount_images(sys::Files& files, const std::string& folder, const std::string& place);

}  // namespace slipway::provider::local
