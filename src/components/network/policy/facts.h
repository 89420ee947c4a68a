// What NetworkPolicies refer to: the facts about pods and namespaces that decide which traffic a policy allows. They are a small
// part of the objects, so that a node can keep those of a whole cluster in memory.
#pragma once

#include "base/json.h"
#include "net/ip.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components::network {

enum class Protocol : std::uint8_t { tcp, udp, sctp };

// "tcp", as nft writes it.
std::string_view to_string(Protocol protocol);

using Labels = std::vector<std::pair<std::string, std::string>>;  // sorted by key

struct NamedPort {
  std::string name;
  Protocol protocol = Protocol::tcp;
  std::uint16_t port = 0;

  bool operator==(const NamedPort&) const = default;
};

struct Pod {
  std::string space;
  std::string name;
  std::string uid;
  std::string created;  // creationTimestamp
  std::string node;     // empty: not scheduled
  Labels labels;
  std::vector<net::IpAddress> addresses;  // none: the pod's network does not exist yet
  std::vector<NamedPort> ports;           // of its containers and of its init containers that keep running (sidecars)
  bool uses_host_network = false;
  bool is_ending = false;  // being deleted; its containers may still run
  bool has_ended = false;  // all containers ended; its addresses may belong to another pod

  bool operator==(const Pod&) const = default;
};

struct Namespace {
  std::string name;
  Labels labels;

  bool operator==(const Namespace&) const = default;
};

// Read an object of the API server. What it does not allow (an address that is none) is left out.
Pod read_pod(const Json& object);
Namespace read_namespace(const Json& object);

}  // namespace slipway::components::network
