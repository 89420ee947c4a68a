// Counting the attempts to boot a new deployment, as GRUB does it on machines with a boot loader (os/disk/grub.cfg). The counter
// is in /boot/grub/grubenv of the machine's disk, GRUB's environment block: a header, lines NAME=VALUE, and '#' up to 1024 bytes.
// Pure.
#pragma once

#include "provider/local/boot_entry.h"

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct GrubEnvironment {
  std::vector<std::string> lines;  // "boot_counter=3", in the order of the file, without header and padding

  bool operator==(const GrubEnvironment&) const = default;
};

// errors: invalid: not 1024 bytes, or another header
Result<GrubEnvironment> parse_grub_environment(std::string_view text);

// The content of the file. errors: invalid: the lines do not fit into 1024 bytes
Result<std::string> serialise(const GrubEnvironment& environment);

// What firmware does at the next boot.
struct BootDecision {
  BootChoice choice = BootChoice::newest;
  // The attempts that are left after this boot, if it is an attempt to boot a new deployment: 0 to 2.
  std::optional<int> attempts_left{};
  // What the file must contain before the boot; empty: it does not change.
  std::optional<GrubEnvironment> save{};

  bool operator==(const BootDecision&) const = default;
};

// Counts only if boot_counter is 0 to 3 and boot_success is 0. A counter of 0 means that three attempts have failed.
BootDecision decide_boot(const GrubEnvironment& environment);

}  // namespace slipway::provider::local
