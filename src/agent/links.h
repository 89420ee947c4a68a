// Questions to the links of this host, for all its interfaces at the same time.
#pragma once

#include "assist/inventory.h"
#include "net/neighbors.h"
#include "sys/context.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slipway::agent {

struct Collision;

struct LinkAnswers {
  std::map<std::string, net::MacsByAddress> by_interface;

  // Empty if nobody answered.
  std::set<std::string> macs_of(const std::string& interface, const net::IpAddress& address) const;
};

// The interface that has an address in the network of `address`; null: none.
const assist::Interface* interface_to(const std::vector<assist::Interface>& interfaces, const net::IpAddress& address);

// The questions of an interface, with its MAC address and its addresses. errors: invalid: an interface without MAC address
Result<net::NeighborQuestions> questions_for(const assist::Interface& interface, std::vector<net::IpAddress> targets);

// Asks each interface for its targets. An interface that is down answers nothing. errors: those of net::ask_neighbors
Result<LinkAnswers> ask_links(const sys::Context& context, const std::vector<assist::Interface>& interfaces,
                              const std::map<std::string, std::vector<net::IpAddress>>& targets);

// Addresses of this host that another machine has too, with the MAC addresses of both. errors: as ask_links
Result<std::vector<Collision>> find_own_collisions(const sys::Context& context, const std::vector<assist::Interface>& interfaces);

}  // namespace slipway::agent
