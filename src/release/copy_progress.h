// Progress of copying the bytes of a release, as events.
#pragma once

#include "base/guarded.h"
#include "sys/events.h"

#include <cstdint>
#include <string>

namespace slipway::release {

// Counts the bytes done and emits at most 100 progress events: "bytes" and "total". Threads: any.
class CopyProgress {
 public:
  // kind, name: those of the events
  CopyProgress(sys::Events& events, std::string kind, std::string name, std::uint64_t total)
      : events_(events), kind_(std::move(kind)), name_(std::move(name)), total_(total) {}

  void add(std::uint64_t bytes);

 private:
  struct Done {
    std::uint64_t bytes = 0;
    std::uint64_t reported = 0;
  };

  sys::Events& events_;
  const std::string kind_, name_;
  const std::uint64_t total_;
  Guarded<Done> done_;
};

}  // namespace slipway::release
