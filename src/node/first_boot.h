// slipway-node firstboot-complete-machineconfig: checks before the start of the kubelet that a machine runs the operating system
// of its config. If it does, the config file is deleted, and the boot continues without a reboot.
#pragma once

#include "node/program.h"

#include <optional>
#include <string>

namespace slipway::node {

// firstboot-complete-machineconfig [--machineconfig-file=/etc/ignition-machine-config-encapsulated.json] [--persist-nics]
//
// --persist-nics is accepted for compatibility; the firmware fixes the names of network interfaces.
//
//   errors  invalid: the file, or an osImageURL without a digest; conflict: another operating system is booted (the message has
//           both digests; this version does not change the operating system); those of ostree
Result<> run_first_boot(const Environment& environment, const Arguments& arguments);

// The commit of the booted deployment, from `ostree admin status`; nothing when none is marked.
std::optional<std::string> booted_commit(std::string_view status);

// "sha256:..." of an image reference by digest; nothing for a reference by tag.
std::optional<std::string> digest_of(std::string_view image);

}  // namespace slipway::node
