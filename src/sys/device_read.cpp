#include "sys/device_read.h"

#include "sys/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace slipway::sys {

Result<> check_readable(const std::string& device) {
  const Fd fd(::open(device.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
  if (!fd.is_open()) return system_error("opening " + device);
  alignas(4096) std::array<char, 4096> block;
  if (::read(fd.get(), block.data(), block.size()) < 0)
    return Error(Code::unavailable, system_error("reading " + device).message());
  return Ok{};
}

}  // namespace slipway::sys
