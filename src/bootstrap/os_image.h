// Image mode: the operating system image of the masters is built on this machine, and every master runs it before the bootstrap
// is complete. The machine config controller of this machine writes what to build; its server serves the image to the masters.
//
//   controller ─► os-builds/master ─► os-image-build ─► os-images/master ─► masters ─► os-image-of-masters
#pragma once

#include "base/result.h"
#include "kube/client.h"
#include "machineconfig/os_build.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <optional>
#include <string>

namespace slipway::bootstrap {

// Waits until the controller has written the build, and runs `slipway-node os-image-build`, with its output in the log. It is run
// again only if it was killed: it tries again by itself what may succeed then.
//
//   errors  those of the command (node/os_build/build.h); unavailable: killed in all runs; timeout: the controller wrote no
//           build, or the runs took longer than os_build_limits::run
//   time    minutes
Result<> build_os_image_of_masters(const sys::Context& context, sys::Files& files, sys::Runner& runner);

// The image of the masters: that of the build, or that which the controller found in the MachineOSConfig. nullopt: not known yet.
// errors: invalid
Result<std::optional<machineconfig::OsImage>> os_image_of_masters(sys::Files& files);

// Records the image in the cluster, for its machine config controller, and waits until every master runs it.
//
//   errors  timeout, with the image of each master that runs another one; denied, invalid: from the API
//   time    up to two hours, because it begins before the image is built
Result<> wait_for_os_image_of_masters(const sys::Context& context, sys::Files& files, kube::Api& api);

// What is missing until all masters run the image; nullopt: nothing. Pure.
std::optional<std::string> masters_with_other_images(const kube::Objects& masters, const std::string& image);

}  // namespace slipway::bootstrap
