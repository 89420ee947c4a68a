// Forwards a port of the host's loopback address into the cluster's network, so that kubectl and browsers reach it without any
// route, address or firewall rule on the host.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/fd.h"

#include <functional>
#include <string>
#include <utility>

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
  // when nobody answers there. While descriptors or threads are short, new connections wait; those that are there go on.
  //
  //   errors  cancelled; what the kernel says of a socket that cannot be used
  Result<> run(const sys::Context& context, const std::function<std::string()>& address, int port);

 private:
  Forwarder(sys::Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  sys::Fd fd_;
  std::string name_;  // "the forward of 127.0.0.1:8443"
};

}  // namespace slipway::provider::local
