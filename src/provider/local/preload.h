// Images that a machine has from the beginning. os/preload makes them in two parts: `state` is what containerd writes to, its
// databases and folders, and each machine has a copy; `images` is what it only reads, and all machines of a cluster see one,
// which none of them can write to. In `state` are links to where a machine sees `images`.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>
#include <string_view>

namespace slipway::provider::local {

// Where a machine sees `images`, below its /var (os/preload has the same).
inline constexpr std::string_view images_in_var = "/lib/containerd-images";

// Gives a machine that is off the images of a folder that has `state`: a copy as lib/containerd below its /var, and the folder
// that `images` is mounted on.
//
//   errors   conflict: its containerd has content already; unavailable: what cp says
//   time     some milliseconds
Result<> preload_images(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& folder,
                        const std::string& var_folder);

// Mounts `images` of such a folder, in the mount namespace of this process: a file system that has no layer to write to, so that
// a machine that is given it cannot make it writable. errors: unavailable, denied: what the kernel says; as Files
Result<> mount_images(sys::Files& files, const std::string& folder, const std::string& place);

}  // namespace slipway::provider::local
