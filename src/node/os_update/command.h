// slipway-node os: the operating system of a machine.
#pragma once

#include "node/program.h"

namespace slipway::node {

// os status         prints the deployments (status.h)
// os trial          prints the Trial (updater.h) as one line of JSON
// os fetch IMAGE [IMAGE-OF-EXTENSIONS EXTENSION...]
//                   fetches an OS image ("": the machine keeps its image) and extensions; the next ones as in OsUpdater
// os stage CONFIG   next-config or first-config
// os accept
// os forget
// os give-up        ends a trial that nobody has accepted in time, and reboots
//
// Runs on the machine, as root. Changes happen in a mount namespace of the command with a writable /sysroot and /boot.
//
//   errors  invalid: arguments; not_found: the machine is no OSTree system; those of find_os_program() (machine_updater.h) and of
//           OsUpdater
Result<> run_os_command(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::node
