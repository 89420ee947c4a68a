// Reads NetworkPolicies (networking.k8s.io/v1). Pure.
#pragma once

#include "base/json.h"
#include "components/network/policy/facts.h"
#include "net/ip.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components::network {

struct Requirement {
  enum class Operator { in, not_in, exists, does_not_exist, never };  // never: unreadable, matches nothing
  std::string key;
  Operator op = Operator::never;
  std::vector<std::string> values;  // sorted

  auto operator<=>(const Requirement&) const = default;
};

// A label selector: all requirements must match. Empty: matches everything.
struct Selector {
  std::vector<Requirement> requirements;  // sorted

  bool matches(const Labels& labels) const;
  auto operator<=>(const Selector&) const = default;
};

struct IpBlock {
  net::Cidr cidr;
  std::vector<net::Cidr> except;
};

// Either selectors or a block.
struct Peer {
  std::optional<Selector> pods;        // absent: all pods
  std::optional<Selector> namespaces;  // absent: the policy's namespace
  std::optional<IpBlock> block;
};

// A range of ports, or a port by its name in the destination pod; neither: all ports of the protocol.
struct Port {
  Protocol protocol = Protocol::tcp;
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  std::string name{};

  bool is_all() const { return name.empty() && first == 0; }
};

struct PolicyRule {
  bool has_all_peers = false;
  std::vector<Peer> peers;
  bool has_all_ports = false;
  std::vector<Port> ports;
};

struct Policy {
  std::string space;
  std::string name;
  Selector pods;
  bool isolates_ingress = false;
  bool isolates_egress = false;
  std::vector<PolicyRule> ingress;
  std::vector<PolicyRule> egress;
  // What this release cannot enforce, with the field ("spec.ingress[0].from[1].ipBlock.cidr: ..."). Such a field allows nothing;
  // a pod selector that cannot be read selects all pods of the namespace.
  std::vector<std::string> problems;
};

Policy read_policy(const Json& object);

}  // namespace slipway::components::network
