// Forwards a port of the host's loopback address into the cluster's network, so that kubectl and browsers reach it without any
// route, address or firewall rule on the host.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/fd.h"

#include <functional>
#include <string>

namespace slipway::provider::local {

class Forwarder {
 public:
  // Listens on a loopback address of the host, from inside the owner: the socket is made in the host's network namespace
  // (host_network_fd) and stays there.
  //
  //   errors  conflict: the port is taken
  static Result<Forwarder> listen(const std::string& host_address, int host_port);

  // Whether a port of the host could be listened on now; asked in the host's network namespace.
  static bool is_free(const std::string& host_address, int host_port);

  // Serves connections until a stop. Each goes to the address that is valid when it comes; it is closed when there is none or
  // when nobody answers there.
  Result<> run(const sys::Context& context, const std::function<std::string()>& address, int port);

 private:
  explicit Forwarder(sys::Fd fd) : fd_(std::move(fd)) {}

  sys::Fd fd_;
};

}  // namespace slipway::provider::local
