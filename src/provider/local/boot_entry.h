// Boot entries: what a machine's disk says shall be booted (Boot Loader Specification, as OSTree writes it).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct BootEntry {
  std::string file;  // name of the file, for messages
  std::string title{};
  int version = 0;           // the highest is the newest
  std::string deployment{};  // the link of its ostree= argument, "/ostree/boot.1/slipway/7b45.../0", as seen on the disk

  bool operator==(const BootEntry&) const = default;
};

// Reads one file of /boot/loader/entries.
//
//   errors  invalid: no version, a version that is no number, no absolute ostree= in its options, or one that climbs out (..)
Result<BootEntry> parse_boot_entry(std::string_view text, std::string_view file);

// The entry that firmware boots. errors: not_found when there is none
Result<BootEntry> newest(const std::vector<BootEntry>& entries);

// A deployment on a machine's disk.
struct Deployment {
  std::string path;      // "/ostree/deploy/slipway/deploy/8de0...14.1", as seen on the disk
  std::string commit{};  // "8de0...14"
  int serial = 0;        // 1

  bool operator==(const Deployment&) const = default;
};

// What the link of a boot entry points to.
//
//   link    BootEntry::deployment
//   target  its content, "../../../deploy/slipway/deploy/8de0...14.1"
//   errors  invalid when that is no deployment
Result<Deployment> deployment_of_link(std::string_view link, std::string_view target);

}  // namespace slipway::provider::local
