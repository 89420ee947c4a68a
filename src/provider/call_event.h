// The event of a call to a platform's API that changes something (docs/formats/events.md).
#pragma once

#include "base/time.h"
#include "sys/context.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::provider {

struct CallReport {
  std::string_view name;        // "EC2 RunInstances"
  std::string_view object;      // what it is about
  std::string_view request_id;  // of the last attempt
  int attempts = 0;
  SteadyTime begin{};
};

// failure: why it failed
void report_call(const sys::Context& context, const CallReport& call, const std::optional<std::string>& failure);

}  // namespace slipway::provider
