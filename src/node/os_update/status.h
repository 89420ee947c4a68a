// slipway-node os status: which deployments of the operating system a machine has, which one is booted, and why.
#pragma once

#include "node/os_update/deployments.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// How many attempts to boot the newest deployment are left, from GRUB's environment block /boot/grub/grubenv (0 to 3).
// nullopt: nothing is counted.
std::optional<int> parse_attempts_left(std::string_view grub_environment);

// A table of the deployments, then what the boot loader does next.
std::string describe_deployments(const std::vector<Deployment>& deployments, std::optional<int> attempts_left);

// Prints the description to standard output, with the extensions of each deployment behind its version. Changes nothing. Needs
// root, for ostree.
//
//   errors  not_found: the machine is no OSTree system; those of ostree
Result<> show_os_status(const Environment& environment);

// As parse_attempts_left; nullopt also if the machine has no such file.
Result<std::optional<int>> attempts_left(const Environment& environment);

}  // namespace slipway::node
