// Measures how fast a disk makes small writes durable, which decides how fast etcd can be.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/context.h"

#include <string>
#include <vector>

namespace slipway::sys {

struct DiskLoad {
  int writers = 2;                     // at the same time
  std::size_t block = 2300;            // bytes of a write; each is made durable by fdatasync before the next one, as etcd does
  std::size_t bytes_each = 22u << 20;  // that a writer writes
  Milliseconds limit{480'000};         // ends the measurement early; the writes so far count
};

// OVERWRITES the first writers * bytes_each bytes of the target, a block device that is not in use or a regular file.
//
//   returns  for each writer, the time of each fdatasync
//   errors   conflict: the device is in use; not_found, denied, internal; unavailable: no write ended within the limit; cancelled
//   blocks   up to the limit
Result<std::vector<std::vector<std::chrono::microseconds>>> measure_durable_writes(const Context& context,
                                                                                   const std::string& target,
                                                                                   const DiskLoad& load);

// The time that 99 % of the measured writes did not exceed; zero without any. Pure.
std::chrono::microseconds percentile_99(std::vector<std::chrono::microseconds> times);

}  // namespace slipway::sys
