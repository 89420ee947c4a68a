// What builds of operating system images leave on a machine of the cluster, and who removes it.
//
//   os_images_folder/BUILD  inputs, logins and output of a build. Its pod removes them at its end, unless another attempt may use
//                           the output. After a kill, the next build on this machine or the next start of the
//                           machine-config-daemon removes them.
//   os_build_storage        podman's storage: the image of the last build of each pool, and what it is made of. The start of the
//                           machine-config-daemon removes it: then the machine has just booted, or the release has changed.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/lock.h"

#include <string>

namespace slipway::node {

// Only builds use it, so it has no images of others.
inline constexpr const char* os_build_storage = "/var/lib/slipway/os-build-storage";

// Waits until no other build runs on the machine; then it has no other one until the lock ends.
//
//   root    the root of the machine, as this process sees it: "/rootfs"; empty: its own
//   errors  timeout: after os_build_limits::run
Result<sys::FileLock> wait_for_machine(const sys::Context& context, const std::string& root);

// Removes the folders of all builds but this one. No build runs on the machine.
Result<> remove_other_builds(sys::Files& files, const std::string& root, const std::string& name);

// Removes all of it, unless a build runs on this machine, which the log tells. errors: those of files
Result<> remove_leftovers_of_builds(const sys::Context& context, sys::Files& files);

}  // namespace slipway::node
