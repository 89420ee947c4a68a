// SystemTree: the files in which the kernel and udev describe this machine: /proc, /sys, /run/udev/data.
#pragma once

#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// Reads below a root folder, so that tests read recorded trees. A file that does not exist or cannot be read counts as empty: the
// kernel answers with an error for an attribute that a device does not have, such as the speed of a cable that is not plugged in.
// Cheap to copy. Threads: any. Blocks on the kernel only.
class SystemTree {
 public:
  // root: "" for this machine
  SystemTree(sys::Files& files, std::string root) : files_(files), root_(std::move(root)) {}

  std::string bytes(const std::string& path) const;               // "/sys/firmware/dmi/tables/DMI"
  std::string text(const std::string& path) const;                // without blanks at both ends, UTF-8
  unsigned long long number(const std::string& path) const;       // decimal; 0 if it is no number
  bool has(const std::string& path) const;                        // also for a link whose target does not exist
  std::vector<std::string> names(const std::string& path) const;  // of a folder or of a link to one, sorted

  // The value of a line NAME=VALUE of a file; "" without such a line.
  std::string variable(const std::string& path, std::string_view name) const;

 private:
  sys::Files& files_;
  std::string root_;
};

}  // namespace slipway::agent
