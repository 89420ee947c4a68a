// One command and its answer over a unix socket that takes one command a connection, as haproxy's stats socket does.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>

namespace slipway::components {

// Sends a line and reads until the other side closes.
//
//   errors   unavailable: nobody listens there, or says nothing for as long as the limit; invalid: the path is too long
//   threads  any; blocks
Result<std::string> ask_over_socket(const std::string& path, std::string_view line, Milliseconds limit);

}  // namespace slipway::components
