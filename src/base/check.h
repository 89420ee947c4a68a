// CHECK(condition): an invariant of the program. If it does not hold, the program prints the location and aborts; its supervisor
// restarts it and the work resumes. Never use it for input, files or the network: those return a Result.
#pragma once

namespace slipway {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace slipway

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::slipway::check_failed(#condition, __FILE__, __LINE__))
