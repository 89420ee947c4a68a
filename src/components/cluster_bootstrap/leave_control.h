// How the temporary control plane ends. Programs on the masters do not wait for the lease of one that has ended, and do not start
// with connections to one that is about to end. A controller manager ends when a connection breaks while it starts its
// controllers, so it gets its lease when its connections lead to a master.
#pragma once

#include "base/json.h"
#include "components/cluster_bootstrap/temporary_pods.h"
#include "components/program/host_address.h"
#include "kube/client.h"
#include "net/ip.h"
#include "sys/context.h"
#include "sys/runner.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// What the leases in a namespace say of those that the temporary control plane works by: "the lease kube-system/kube-scheduler is
// held by bootstrap_1"; nothing when this machine holds none of them. Pure.
//
//   host  name of this machine; a holder is called by it, or by "bootstrap", and something behind a "_"
std::optional<std::string> held_here(const kube::Objects& leases, std::string_view space, std::string_view host);

// Whether one of those leases is held by a controller of this machine that told to end did so without giving it back. That
// happens to one that was just renewing it: client-go reads the lease to replace it, and its own write, which it no longer waits
// for, comes between; or when it could not reach the server any more. Silence says it, longer than between two signs of life.
// Pure.
//
//   now  by the clock of this machine, which is also the holder's
bool was_left(const Json& lease, std::string_view space, std::string_view host, WallTime now);

// "10.97.77.5 is still on eth0"; nothing when this machine has none of these addresses. Pure.
std::optional<std::string> address_here(const std::vector<HostAddress>& addresses,
                                        const std::vector<net::IpAddress>& virtual_ips);

struct TearDown {
  kube::Api& api;  // the temporary API server
  sys::Runner& runner;
  TemporaryPods& pods;
  std::string host;                         // name of this machine
  std::vector<net::IpAddress> virtual_ips;  // none where a balancer or DNS leads to the API
};

// Waits until the API's address has moved to a master, takes the pods of all but the API server away, waits until their leases
// are given back, or gives back those that were left, then takes the rest away. May be repeated.
//
//   time    30 s at most for the address and 20 s for the leases; after that it goes on with a warning: the address moves when
//           the API server here is gone, and whoever waits for a lease gets it when it runs out
//   errors  cancelled; as TemporaryPods
Result<> leave_control(const sys::Context& context, const TearDown& work);

}  // namespace slipway::components::cluster_bootstrap
