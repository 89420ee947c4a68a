// Annotations of Nodes through which the machine-config controller and the daemons on machines talk. The names are those of
// openshift/machine-config-operator pkg/daemon/constants.
#pragma once

#include <string_view>

namespace slipway::machineconfig {

// Names of rendered configs: what the machine has, which the daemon says, and what it shall have, which the controller says.
inline constexpr std::string_view current_config = "machineconfiguration.openshift.io/currentConfig";
inline constexpr std::string_view desired_config = "machineconfiguration.openshift.io/desiredConfig";

// The daemon's: how it goes, and why it does not.
inline constexpr std::string_view daemon_state = "machineconfiguration.openshift.io/state";
inline constexpr std::string_view daemon_reason = "machineconfiguration.openshift.io/reason";
inline constexpr std::string_view state_done = "Done";
inline constexpr std::string_view state_working = "Working";
inline constexpr std::string_view state_rebooting = "Rebooting";
inline constexpr std::string_view state_degraded = "Degraded";
inline constexpr std::string_view state_unreconcilable = "Unreconcilable";

// The daemon asks for "drain-CONFIG" or "uncordon-CONFIG"; the controller repeats it once that is so.
inline constexpr std::string_view desired_drain = "machineconfiguration.openshift.io/desiredDrain";
inline constexpr std::string_view last_applied_drain = "machineconfiguration.openshift.io/lastAppliedDrain";

}  // namespace slipway::machineconfig
