// CHECK(condition): an invariant of ours. When it is broken the program prints where and ends; whoever supervises it
// starts it again and all its work resumes. Never for input, files or the network: those are Results.
#pragma once

namespace slipway {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace slipway

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::slipway::check_failed(#condition, __FILE__, __LINE__))
