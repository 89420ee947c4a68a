// Step connectivity-check: which other hosts this host reaches, by link (ARP, neighbor discovery), by address (pings) and with
// packets as large as the MTU.
#pragma once

#include "agent/step.h"
#include "assist/inventory.h"
#include "base/json.h"
#include "net/echo.h"
#include "net/ip.h"
#include "net/neighbors.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slipway::agent {

struct RemoteHost {
  std::string id;
  std::set<std::string> macs;  // lower case
  std::vector<net::IpAddress> addresses;

  bool operator==(const RemoteHost&) const = default;
};

// Reads [{"host_id": ..., "nics": [{"name": ..., "mac": ..., "ip_addresses": ["192.168.1.5", ...]}]}]. Link-local addresses are
// left out. errors: invalid, with all wrong fields
Result<std::vector<RemoteHost>> parse_remote_hosts(const Json& arguments);

// A check of one address from one interface.
struct Probe {
  net::IpAddress target;
  std::string interface;            // that the packets leave by
  std::string own_address;          // of the interface; empty when routed
  bool is_on_link = false;          // the interface has an address in the target's network: neighbors are asked, too
  std::size_t largest_payload = 0;  // of a ping that fits into the MTU; 0: the MTU is not checked

  bool operator==(const Probe&) const = default;
};

// The probes of each host, by its ID. An address that is in the network of an interface is checked from this interface; any other
// address from the interface of the default route. The MTU is checked where it is not 1500 and the target is on the link. Pure.
std::map<std::string, std::vector<Probe>> plan_probes(const std::vector<assist::Interface>& interfaces,
                                                      const std::vector<assist::Route>& routes,
                                                      const std::vector<RemoteHost>& hosts);

struct ProbeResult {
  Probe probe;
  std::set<std::string> macs{};  // that answered for the address
  net::EchoResult echo{};
  bool has_mtu = false;
};

// An address that more than one machine has.
struct Collision {
  net::IpAddress address;
  std::set<std::string> macs;

  bool operator==(const Collision&) const = default;
};

// {"remote_hosts": [{"host_id", "l2_connectivity", "l3_connectivity", "mtu_report"}], "collisions": [{"ip_address",
// "mac_addresses"}]}. l2_connectivity has an entry for each MAC address that answered; `successful` if it belongs to the host.
// Pure.
Json connectivity_report(const std::vector<RemoteHost>& hosts, const std::map<std::string, std::vector<ProbeResult>>& results,
                         const std::vector<Collision>& own_collisions);

// time: about 3 s, however many hosts there are
Result<StepReply> check_connectivity(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
