// Annotations of Nodes for the communication between the machine-config controller and the daemons on machines. The names are
// those of openshift/machine-config-operator pkg/daemon/constants.
#pragma once

#include <string_view>

namespace slipway::machineconfig {

// Names of rendered configs: the current one, set by the daemon, and the desired one, set by the controller.
inline constexpr std::string_view current_config = "machineconfiguration.openshift.io/currentConfig";
inline constexpr std::string_view desired_config = "machineconfiguration.openshift.io/desiredConfig";

// Image mode: the image of the operating system by digest, instead of that of the config. The controller sets the desired one
// with the desired config; without it a machine has the image of its config. The daemon sets the current one.
inline constexpr std::string_view current_image = "machineconfiguration.openshift.io/currentImage";
inline constexpr std::string_view desired_image = "machineconfiguration.openshift.io/desiredImage";

// slipway's own: the controller sets them on the nodes of a pool that are the next to get another config and image, and removes
// them when it sets the desired ones. The daemon fetches the image before its turn, while other nodes restart.
inline constexpr std::string_view coming_config = "slipway.internal/coming-config";
inline constexpr std::string_view coming_image = "slipway.internal/coming-image";

// State of the daemon, and the reason if it is not done.
inline constexpr std::string_view daemon_state = "machineconfiguration.openshift.io/state";
inline constexpr std::string_view daemon_reason = "machineconfiguration.openshift.io/reason";
inline constexpr std::string_view state_done = "Done";
inline constexpr std::string_view state_working = "Working";
inline constexpr std::string_view state_rebooting = "Rebooting";
inline constexpr std::string_view state_degraded = "Degraded";
inline constexpr std::string_view state_unreconcilable = "Unreconcilable";

// The daemon requests "drain-STATE" or "uncordon-STATE" (MachineState::text()); the controller copies the value when it is done.
inline constexpr std::string_view desired_drain = "machineconfiguration.openshift.io/desiredDrain";
inline constexpr std::string_view last_applied_drain = "machineconfiguration.openshift.io/lastAppliedDrain";

}  // namespace slipway::machineconfig
