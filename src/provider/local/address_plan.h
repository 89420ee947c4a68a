// Addresses of a cluster's network. It exists only in the owner's network namespace, so every cluster may have the same one.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// A network of /16 to /28, IPv4.
//   .1 the owner: bridge, names, registry; .2 to .9 nobody (virtual addresses of clusters); machines from .10 on
struct AddressPlan {
  unsigned network = 0;  // host byte order, host bits zero
  int prefix = 24;

  std::string gateway() const;                              // "10.97.77.1"
  std::string with_prefix(std::string_view address) const;  // "10.97.77.1/24"

  // Machines have numbers from 0 on.
  int most_machines() const;
  std::string address(int machine) const;     // "10.97.77.10"
  static std::string mac(int machine);        // "52:54:00:73:00:0a": locally administered, the same at every boot
  static std::string gateway_mac();           // of no machine
  static std::string interface(int machine);  // the bridge's side of the machine's cable, "vm0"

  bool operator==(const AddressPlan&) const = default;
};

// errors: invalid: no IPv4 network in CIDR form, host bits that are set, a prefix outside of 16 to 28
Result<AddressPlan> parse_network(std::string_view cidr);

// The lowest number that is not taken. errors: conflict when the network is full
Result<int> free_number(const AddressPlan& plan, const std::vector<int>& taken);

}  // namespace slipway::provider::local
