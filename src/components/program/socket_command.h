// Sends one command over a Unix socket that accepts one command per connection, like haproxy's stats socket.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>

namespace slipway::components {

// Sends a line and reads until the other side closes the connection.
//
//   errors   unavailable: nothing listens on the socket, or no answer within the limit; invalid: the path is too long
//   threads  any; blocks
Result<std::string> send_socket_command(const std::string& path, std::string_view line, Milliseconds limit);

}  // namespace slipway::components
