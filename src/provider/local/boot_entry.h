// Boot entries of a machine's disk, which name the deployment to boot (Boot Loader Specification, as OSTree writes them).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct BootEntry {
  std::string file;  // name of the file, for messages
  std::string title{};
  int version = 0;           // the highest version is the newest
  std::string deployment{};  // path of the symlink in its ostree= argument, "/ostree/boot.1/slipway/7b45.../0", on the disk
  std::vector<std::string> arguments{};  // of the kernel, with ostree=, in order

  bool operator==(const BootEntry&) const = default;
};

// Reads one file of /boot/loader/entries.
//
//   errors  invalid: the version is missing or not a number; ostree= is missing, not an absolute path, or contains ".."
Result<BootEntry> parse_boot_entry(std::string_view text, std::string_view file);

enum class BootChoice { newest, one_before_newest };

// The entry with the highest version, or the one with the second highest. If there is only one entry, it is both, as in GRUB.
// errors: not_found: there is no entry
Result<BootEntry> choose(std::vector<BootEntry> entries, BootChoice choice);

// A deployment on a machine's disk.
struct Deployment {
  std::string path;      // "/ostree/deploy/slipway/deploy/8de0...14.1", on the disk
  std::string commit{};  // "8de0...14"
  int serial = 0;        // 1

  bool operator==(const Deployment&) const = default;
};

// The deployment that the symlink of a boot entry points to.
//
//   link    BootEntry::deployment
//   target  the target of the symlink, "../../../deploy/slipway/deploy/8de0...14.1"
//   errors  invalid: the target is not a deployment
Result<Deployment> deployment_of_link(std::string_view link, std::string_view target);

}  // namespace slipway::provider::local
