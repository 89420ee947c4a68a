// Pings: ICMP echo of both families, over raw sockets.
#pragma once

#include "base/result.h"
#include "net/ip.h"
#include "sys/context.h"

#include <string>

namespace slipway::net {

struct EchoRequest {
  IpAddress target;
  std::string interface {};  // that the packets leave by; empty: as routed
  int count = 10;
  Milliseconds interval{200};  // between two packets
  Milliseconds wait{1000};     // for the last answers
  std::size_t payload = 56;    // bytes after the headers of IP and ICMP, which have 28 bytes for IPv4 and 48 for IPv6
  bool dont_fragment = false;  // packets larger than the path allows are lost
};

struct EchoResult {
  int sent = 0;
  int received = 0;
  double average_ms = 0;  // of the packets that were answered

  double loss_percent() const { return sent == 0 ? 0 : 100.0 * (sent - received) / sent; }
};

// Sends the packets and counts the answers. A packet that cannot be sent, for instance because there is no route, is a lost one.
//
//   errors  denied: not root (CAP_NET_RAW); not_found: no such interface; cancelled
//   time    (count - 1) * interval + wait; less if all packets are answered
Result<EchoResult> echo(const sys::Context& context, const EchoRequest& request);

}  // namespace slipway::net
