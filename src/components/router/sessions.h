// Which connections of haproxy are still of use, when it should end.
#pragma once

#include "net/ip.h"

#include <functional>
#include <string_view>

namespace slipway::components::router {

// Counts the requests and connections in haproxy's answer to "show sess all" (management guide) that may still get something
// done. Not counted are those of this socket, and connections to an address that has left this machine: their packets go to the
// machine that has the address now. A connection that waits for its next request is not in the answer at all; if it passes
// through the frontend of passthrough routes, that half of it is not counted.
//
//   is_here  whether an address belongs to this machine
// Pure.
int sessions_in_use(std::string_view text, const std::function<bool(const net::IpAddress&)>& is_here);

}  // namespace slipway::components::router
