// Forwards a port of the host's loopback address into the cluster's network. So kubectl and browsers reach the cluster without
// additional routes, addresses or firewall rules on the host. The other way round, machines reach a program of the host.
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
  // Listens on a loopback address of the host. Called in the owner, which creates the socket in the host's network namespace
  // (host_network_fd).
  //
  //   errors  conflict: the port is in use
  static Result<Forwarder> listen(const std::string& host_address, int host_port);

  // Listens in the cluster's network, for connections to the host's loopback address. errors: conflict: the port is in use
  static Result<Forwarder> listen_for_machines(const std::string& address, int port);

  // Whether a port of the host is free. Call it in the host's network namespace.
  static bool is_free(const std::string& host_address, int host_port);

  // Serves connections until a stop. address() is called for each new connection; the connection is closed if the address is
  // empty or does not answer. If no descriptors or threads are available, new connections wait; existing ones continue.
  //
  //   errors  cancelled; with the kernel's message: the socket cannot be used
  Result<> run(const sys::Context& context, const std::function<std::string()>& address, int port);

 private:
  Forwarder(sys::Fd fd, std::string name, bool leads_to_host)
      : fd_(std::move(fd)), name_(std::move(name)), leads_to_host_(leads_to_host) {}

  sys::Fd fd_;
  std::string name_;  // "the forward of 127.0.0.1:8443"
  bool leads_to_host_ = false;
};

}  // namespace slipway::provider::local
