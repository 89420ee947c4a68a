// Addresses of a cluster's network. The network exists only in the owner's network namespace, so all clusters may use the same
// one.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// An IPv4 network of /16 to /28.
//   .1        the owner: bridge, name server, registry
//   .2 to .9  not assigned (for the virtual IPs of clusters)
//   from .10  machines
struct AddressPlan {
  unsigned network = 0;  // host byte order, host bits zero
  int prefix = 24;

  std::string to_cidr() const;                              // "10.97.77.0/24"
  std::string gateway() const;                              // "10.97.77.1"
  std::string with_prefix(std::string_view address) const;  // "10.97.77.1/24"

  // Machines are numbered from 0.
  int most_machines() const;
  std::string address(int machine) const;     // "10.97.77.10"
  static std::string mac(int machine);        // "52:54:00:73:00:0a": locally administered, the same at every boot
  static std::string gateway_mac();           // differs from those of all machines
  static std::string interface(int machine);  // the bridge's end of the machine's veth pair, "vm0"

  bool operator==(const AddressPlan&) const = default;
};

// "10.97.77.1" for 0x0a614d01.
std::string dotted(unsigned address);

// errors: invalid: not an IPv4 network in CIDR notation, host bits are set, a prefix length outside of 16 to 28
Result<AddressPlan> parse_network(std::string_view cidr);

// The lowest number that is not taken. errors: conflict: the network is full
Result<int> free_number(const AddressPlan& plan, const std::vector<int>& taken);

}  // namespace slipway::provider::local
