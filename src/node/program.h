// What every command of slipway-node is given.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/runner.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

using Arguments = std::vector<std::string>;

struct Environment {
  const sys::Context& context;
  sys::Files& files;
  sys::Runner& runner;
  sys::Random& random;
  net::Http& http;
  std::function<void(std::string_view)> print;  // to standard output
};

// Waits without an end of their own: what they wait for may take a person to bring, and the journal says what it is.
inline constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

}  // namespace slipway::node
