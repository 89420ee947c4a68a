// How long a build of an operating system image may take. Everything that waits for an image derives its own limit from `run`.
//
//   one run                   checks, up to `attempts` times podman, OCI layout, push                 run
//   bootstrap machine         runs again only after a kill; all runs share the time of one            run
//   installer                 adds `run` to the limits of what needs masters (cluster/steps.h)
//   cluster-bootstrap         adds `run` to its limit for the pods of the control plane
//   Job in the cluster        all its pods, with the time in which they wait for a machine            job
#pragma once

#include "base/time.h"

namespace slipway::machineconfig::os_build_limits {

inline constexpr Milliseconds run = std::chrono::hours(1);
inline constexpr Milliseconds job = 2 * run;

// Of podman within a run, as long as the failure may be temporary.
inline constexpr int attempts = 3;
// Runs on the bootstrap machine: the first one, and those after a kill.
inline constexpr int runs = 3;
// Pods of the Job after the first one.
inline constexpr int retries_of_job = 3;

// A pod that has not started after this time is reported with the reason.
inline constexpr Milliseconds start_of_pod = std::chrono::minutes(2);
// How long new machines wait for the first image of their pool, if its MachineOSConfig asks for it (os_config.h).
inline constexpr Milliseconds first_boot_hold = std::chrono::minutes(20);

}  // namespace slipway::machineconfig::os_build_limits
