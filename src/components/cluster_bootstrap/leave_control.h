// The end of the temporary control plane. Its order spares programs on the masters two problems: waiting for the lease of a
// program that has ended, and starting with connections to a server that is about to end. A controller manager ends if a
// connection breaks while it starts its controllers, so it must get its lease only when its connections lead to a master.
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

// The lease of a namespace that a controller of this machine holds: "Lease kube-system/kube-scheduler is held by bootstrap_1".
// Empty if there is none. Only the leases of the temporary control plane count. Pure.
//
//   host  name of this machine; a holder is this name or "bootstrap", followed by "_" and a suffix
std::optional<std::string> held_here(const kube::Objects& leases, std::string_view space, std::string_view host);

// Whether a controller of this machine has ended without releasing this lease. This happens if it was just renewing the lease:
// client-go reads the lease before it replaces it, and its own renewal, which it no longer waits for, comes in between. It also
// happens if the server was not reachable. The sign is a renewal that is older than the interval between two renewals. Pure.
//
//   now  by the clock of this machine, which is also the holder's
bool is_abandoned(const Json& lease, std::string_view space, std::string_view host, WallTime now);

// "10.97.77.5 is still on eth0"; empty if this machine has none of these addresses. Pure.
std::optional<std::string> address_here(const std::vector<HostAddress>& addresses,
                                        const std::vector<net::IpAddress>& virtual_ips);

struct TearDown {
  kube::Api& api;  // the temporary API server
  sys::Runner& runner;
  TemporaryPods& pods;
  std::string host;                         // name of this machine
  std::vector<net::IpAddress> virtual_ips;  // empty if a load balancer or DNS leads to the API
};

// Waits until the API's address has moved to a master, removes all pods except the API server, waits until their leases are
// released or releases them itself, then removes the rest. Can be repeated.
//
//   time    at most 30 s for the address and 20 s for the leases. Then it logs a warning and continues: the address moves when
//           the API server here ends, and a waiting program gets a lease when it expires
//   errors  cancelled; as TemporaryPods
Result<> leave_control(const sys::Context& context, const TearDown& work);

}  // namespace slipway::components::cluster_bootstrap
