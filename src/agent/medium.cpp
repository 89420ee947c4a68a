#include "agent/medium.h"

#include "base/text.h"
#include "sys/device_read.h"

#include <algorithm>

namespace slipway::agent {

std::string medium_device(std::string_view mountinfo) {
  for (const std::string_view line : split(mountinfo, '\n')) {
    // ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS [TAGS...] - TYPE SOURCE OPTIONS
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (dash - fields.begin() < 6 || fields.end() - dash < 3) continue;
    if (std::find(medium_folders.begin(), medium_folders.end(), fields[4]) != medium_folders.end()) return std::string(dash[2]);
  }
  return "";
}

Result<> check_medium(const SystemTree& tree) {
  const std::string device = medium_device(tree.bytes("/proc/self/mountinfo"));
  if (device.empty()) return Ok{};
  const Result<> readable = sys::check_readable(device);
  if (readable.ok()) return Ok{};
  return error(Code::unavailable, "the medium of the live system cannot be read: {} (connect it again)",
               readable.error().message());
}

}  // namespace slipway::agent
