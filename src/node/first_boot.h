// slipway-node firstboot-complete-machineconfig: brings a machine to the operating system, the extensions and the kernel of its
// config, before the start of the kubelet. If it has them, the config file is deleted, and the boot continues without a reboot.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"

namespace slipway::node {

// firstboot-complete-machineconfig [--persist-nics]
//
// The config is first_config_file (updater.h). --persist-nics is accepted for compatibility; the firmware fixes the names of
// network interfaces. With another operating system, other extensions or missing kernel arguments, it fetches the images, reboots
// the machine into them, and does not return until a stop.
//
//   errors  invalid: the file, or an osImageURL without a digest; conflict: the deployment did not start in three attempts, and
//           the machine runs the one before it; those of OsUpdater
Result<> run_first_boot(const Environment& environment, const Arguments& arguments);

// The same with another updater.
Result<> complete_first_boot(const Environment& environment, OsUpdater& os);

}  // namespace slipway::node
