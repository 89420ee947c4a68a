// The nftables rules of one node as a value, their text for `nft -f -`, and the transactions between two of them. Pure.
//
// Rules are in one table, whose fixed part is data/components/network/network-policies.nft. A verdict map for each direction and
// family leads from the address of an isolated pod to a chain; a chain ends with "drop", and its rules return what is allowed.
// Names of chains and of sets are digests of what they mean, so a chain never changes, and a set changes its elements only.
#pragma once

#include "components/network/policy/facts.h"
#include "net/ip.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::components::network {

__extension__ using Number = unsigned __int128;  // an address as a number

Number number_of(const net::IpAddress& address);

struct AddressRange {
  Number first = 0;
  Number last = 0;

  bool operator==(const AddressRange&) const = default;
};

struct Element {
  net::IpAddress address;
  std::uint16_t port = 0;  // sets of endpoints only

  auto operator<=>(const Element&) const = default;
};

struct Set {
  enum class Kind { addresses, endpoints, ranges };
  Kind kind = Kind::addresses;
  bool is_v4 = true;
  std::vector<Element> elements;     // sorted, each once
  std::vector<AddressRange> ranges;  // of Kind::ranges: sorted, apart from each other

  bool operator==(const Set&) const = default;
};

enum class Direction { ingress, egress };

// Allows what meets all of its conditions. The peer is the source for ingress, the destination for egress.
struct AllowRule {
  std::optional<bool> is_v4{};  // any family
  std::string peers{};          // set that the peer's address must be in
  std::optional<Protocol> protocol{};
  std::vector<std::pair<std::uint16_t, std::uint16_t>> ports{};  // ranges of destination ports
  std::string endpoints{};                                       // set that destination address and port must be in
};

struct Chain {
  Direction direction = Direction::ingress;
  std::vector<AllowRule> rules;
};

// The text of a chain's rules, with the "drop" at its end, a rule per line.
std::string text_of_rules(const Chain& chain);

// Chains by name for one direction.
struct Isolation {
  std::map<net::IpAddress, std::string> chains;  // of each isolated pod of the node
  std::vector<std::string> starting;             // chains that a pod of the node without a known address has to pass, sorted

  bool operator==(const Isolation&) const = default;
};

struct Ruleset {
  std::map<std::string, Set> sets;
  std::map<std::string, Chain> chains;
  Isolation ingress, egress;
  std::vector<net::IpAddress> pods;  // all known addresses of pods of the node, sorted

  Isolation& of(Direction direction) { return direction == Direction::ingress ? ingress : egress; }
  const Isolation& of(Direction direction) const { return direction == Direction::ingress ? ingress : egress; }
};

// Transactions for nft, each applied as a whole or not at all.
struct Transactions {
  std::string change;   // empty: nothing differs
  std::string cleanup;  // removes what `change` left without a use; empty: nothing. A kernel older than 6.2 does not remove a
                        // chain in the transaction that removes the last reference to it
};

// Replaces the table, whatever the kernel has, or adds it. bridge: the interface of the node that its pods are connected to
std::string whole_table(const Ruleset& ruleset, const std::string& bridge);

// From the rules that the kernel has to other ones.
Transactions differences(const Ruleset& from, const Ruleset& to);

// Removes the table, if there is one.
std::string no_table();

}  // namespace slipway::components::network
