// slipway-node os status: which deployments of the operating system a machine has, which one is booted, and why.
#pragma once

#include "node/program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// One OSTree deployment, as `ostree admin status` lists it.
struct Deployment {
  std::string commit;   // 64 hexadecimal digits
  std::string version;  // of the commit; "" if it has none
  bool booted = false;
};

// Newest first: this is the order in which the boot loader has them.
std::vector<Deployment> parse_deployments(std::string_view status);

// How many attempts to boot the newest deployment are left, from GRUB's environment block /boot/grub/grubenv (0 to 3).
// nullopt: nothing is counted.
std::optional<int> parse_attempts_left(std::string_view grub_environment);

// A table of the deployments, then what the boot loader does next.
std::string describe_deployments(const std::vector<Deployment>& deployments, std::optional<int> attempts_left);

// os status
//
// Prints the description to standard output. Changes nothing. Needs root, for ostree.
//
//   errors  invalid: arguments; not_found: the machine is no OSTree system; those of ostree
Result<> run_os_command(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::node
