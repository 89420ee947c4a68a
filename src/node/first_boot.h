// slipway-node firstboot-complete-machineconfig: brings a machine to the operating system of its configuration before its kubelet
// starts. A machine that already has it loses the configuration file and goes on without a reboot.
#pragma once

#include "node/program.h"

#include <optional>
#include <string>

namespace slipway::node {

// firstboot-complete-machineconfig [--machineconfig-file=/etc/ignition-machine-config-encapsulated.json] [--persist-nics]
//
// --persist-nics is taken for the sake of other callers; names of network interfaces here are fixed by the firmware.
//
//   errors  invalid: the file, an osImageURL without a digest; conflict: another operating system is booted than wanted (the
//           message has both digests; this version does not change it); those of ostree
Result<> run_first_boot(const Environment& environment, const Arguments& arguments);

// The commit of the deployment that is booted, from `ostree admin status`; nothing when none is marked.
std::optional<std::string> booted_commit(std::string_view status);

// "sha256:..." of an image reference by digest; nothing for one by tag.
std::optional<std::string> digest_of(std::string_view image);

}  // namespace slipway::node
