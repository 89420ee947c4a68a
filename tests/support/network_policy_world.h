// Random clusters with NetworkPolicies, and an evaluator that decides about connections as the API describes it, object by
// object. It shares no code with the compiler.
#pragma once

#include "base/json.h"
#include "net/ip.h"

#include <fmt/core.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::testing_support {

struct PolicyWorld {
  std::vector<Json> namespaces, pods, policies;
};

struct Connection {
  std::string source, destination;  // addresses
  std::string protocol;             // "TCP", "UDP", "SCTP", or "ICMP" without a port
  int port = 0;
};

inline std::string describe(const Connection& it) {
  return fmt::format("{} -> {} {} {}", it.source, it.destination, it.protocol, it.port);
}

namespace policy_evaluator {

inline bool matches(const Json& selector, const Json& labels) {
  const auto value_of = [&](std::string_view key) { return find_string(labels, {key}); };
  for (const auto& [key, value] : find_object(selector, {"matchLabels"})) {
    if (value_of(key) != std::string_view(value.as_string())) return false;
  }
  for (const Json& each : find_array(selector, {"matchExpressions"})) {
    const auto value = value_of(text_of(each, {"key"}));
    bool is_listed = false;
    for (const std::string& listed : texts_of(each, {"values"})) is_listed = is_listed || value == std::string_view(listed);
    const std::string op = text_of(each, {"operator"});
    if (op == "In" && !is_listed) return false;
    if (op == "NotIn" && is_listed) return false;
    if (op == "Exists" && !value) return false;
    if (op == "DoesNotExist" && value) return false;
  }
  return true;
}

inline const Json& labels_of(const Json& object) {
  static const Json none = JsonObject{};
  const Json* labels = find(object, {"metadata", "labels"});
  return labels ? *labels : none;
}

// The pod that an address belongs to; null: none in the network of pods.
inline const Json* pod_of(const PolicyWorld& world, const std::string& address) {
  const Json* found = nullptr;
  for (const Json& pod : world.pods) {
    const std::string phase = text_of(pod, {"status", "phase"});
    if (is_true(pod, {"spec", "hostNetwork"}) || phase == "Succeeded" || phase == "Failed") continue;
    for (const Json& each : find_array(pod, {"status", "podIPs"})) {
      if (text_of(each, {"ip"}) != address) continue;
      const auto rank = [](const Json& it) {
        return std::tuple(!find(it, {"metadata", "deletionTimestamp"}), text_of(it, {"metadata", "creationTimestamp"}),
                          text_of(it, {"metadata", "uid"}));
      };
      if (!found || rank(*found) < rank(pod)) found = &pod;
    }
  }
  return found;
}

inline bool is_in(const std::string& cidr, const std::string& address) {
  return net::parse_cidr(cidr).value().contains(net::parse_ip(address).value());
}

inline bool is_peer(const PolicyWorld& world, const Json& peer, const std::string& space, const std::string& address) {
  if (const Json* block = find(peer, {"ipBlock"})) {
    if (!is_in(text_of(*block, {"cidr"}), address)) return false;
    for (const std::string& except : texts_of(*block, {"except"})) {
      if (is_in(except, address)) return false;
    }
    return true;
  }
  const Json* pod = pod_of(world, address);
  if (!pod) return false;
  const std::string pods_space = text_of(*pod, {"metadata", "namespace"});
  if (const Json* selector = find(peer, {"namespaceSelector"})) {
    bool is_selected = false;
    for (const Json& each : world.namespaces) {
      is_selected = is_selected || (text_of(each, {"metadata", "name"}) == pods_space && matches(*selector, labels_of(each)));
    }
    if (!is_selected) return false;
  } else if (pods_space != space) {
    return false;
  }
  const Json* selector = find(peer, {"podSelector"});
  return !selector || matches(*selector, labels_of(*pod));
}

inline bool is_port(const PolicyWorld& world, const Json& port, const Connection& connection) {
  const std::string protocol = text_of(port, {"protocol"});
  if (connection.protocol != (protocol.empty() ? "TCP" : protocol)) return false;
  const Json* which = find(port, {"port"});
  if (!which) return true;
  if (!which->is_string()) {
    const int end = find(port, {"endPort"}) ? integer_of(port, {"endPort"}) : integer_of(port, {"port"});
    return integer_of(port, {"port"}) <= connection.port && connection.port <= end;
  }
  const Json* pod = pod_of(world, connection.destination);
  if (!pod) return false;
  for (const Json& container : find_array(*pod, {"spec", "containers"})) {
    for (const Json& each : find_array(container, {"ports"})) {
      if (text_of(each, {"name"}) == which->as_string() && text_of(each, {"protocol"}) == connection.protocol &&
          integer_of(each, {"containerPort"}) == connection.port) {
        return true;
      }
    }
  }
  return false;
}

inline bool has_type(const Json& policy, std::string_view type) {
  for (const std::string& each : texts_of(policy, {"spec", "policyTypes"})) {
    if (each == type) return true;
  }
  return false;
}

// One direction: type "Ingress", rules in "ingress", peers in "from"; or "Egress", "egress", "to".
inline bool is_direction_allowed(const PolicyWorld& world, const Connection& connection, bool is_ingress) {
  const Json* pod = pod_of(world, is_ingress ? connection.destination : connection.source);
  if (!pod) return true;
  const std::string& peer_address = is_ingress ? connection.source : connection.destination;
  const std::string space = text_of(*pod, {"metadata", "namespace"});
  bool is_isolated = false;
  for (const Json& policy : world.policies) {
    if (text_of(policy, {"metadata", "namespace"}) != space || !has_type(policy, is_ingress ? "Ingress" : "Egress")) continue;
    if (!matches(*find(policy, {"spec", "podSelector"}), labels_of(*pod))) continue;
    is_isolated = true;
    for (const Json& rule : find_array(policy, {"spec", is_ingress ? "ingress" : "egress"})) {
      const JsonArray& peers = find_array(rule, {is_ingress ? "from" : "to"});
      const JsonArray& ports = find_array(rule, {"ports"});
      bool has_peer = peers.empty(), has_port = ports.empty();
      for (const Json& peer : peers) has_peer = has_peer || is_peer(world, peer, space, peer_address);
      for (const Json& port : ports) has_port = has_port || is_port(world, port, connection);
      if (has_peer && has_port) return true;
    }
  }
  return !is_isolated;
}

// Whether a new connection is allowed. One end is a pod, or both are.
inline bool is_allowed(const PolicyWorld& world, const Connection& connection) {
  if (connection.source == connection.destination) return true;
  return is_direction_allowed(world, connection, false) && is_direction_allowed(world, connection, true);
}

}  // namespace policy_evaluator

// Generates worlds: nodes "node-0" and "node-1", whose pods have addresses 10.0.NODE.N and fd00::NODE:N.
class PolicyWorldGenerator {
 public:
  explicit PolicyWorldGenerator(unsigned seed) : engine_(seed) {}

  int number(int below) { return std::uniform_int_distribution<int>(0, below - 1)(engine_); }
  bool chance(int percent) { return number(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + number(static_cast<int>(values.size())));
  }

  // has_odd_pods: with pods that have ended, are ending, use the host's network, have no address or that of another pod
  PolicyWorld world(int pods, int policies, bool has_odd_pods = true) {
    PolicyWorld world;
    for (const char* name : {"a", "b", "c"}) {
      JsonObject labels = random_labels("team", {"x", "y", "z"});
      labels["kubernetes.io/metadata.name"] = name;
      world.namespaces.push_back({{"metadata", {{"name", name}, {"labels", labels}}}});
    }
    for (int i = 0; i < pods; ++i) world.pods.push_back(pod(i, has_odd_pods));
    for (int i = 0; i < policies; ++i) world.policies.push_back(policy(i));
    return world;
  }

  Connection connection(const PolicyWorld& world) {
    Connection it;
    const bool is_v4 = chance(65);
    it.source = endpoint(world, is_v4);
    it.destination = endpoint(world, is_v4);
    it.protocol = pick<const char*>({"TCP", "TCP", "TCP", "UDP", "SCTP", "ICMP"});
    it.port = it.protocol == "ICMP" ? 0 : pick({53, 80, 81, 82, 90, 8080, 65535});
    return it;
  }

 private:
  JsonObject random_labels(const char* key, std::initializer_list<const char*> values) {
    JsonObject labels;
    if (chance(80)) labels[key] = pick(values);
    return labels;
  }

  Json pod(int index, bool has_odd_pods) {
    JsonObject labels = random_labels("app", {"web", "db", "job"});
    if (chance(60)) labels["tier"] = pick<const char*>({"1", "2"});
    JsonArray ports;
    if (chance(70)) ports.push_back(named_port("http", pick({80, 81, 8080}), "TCP"));
    if (chance(40)) ports.push_back(named_port("dns", pick({53, 82}), pick<const char*>({"UDP", "TCP"})));
    const int node = number(2);
    const int own = has_odd_pods && chance(4) ? std::max(0, index - 1) : index;
    JsonArray addresses = {{{"ip", fmt::format("10.0.{}.{}", node, own + 2)}}};
    if (chance(80)) addresses.push_back(JsonObject{{"ip", fmt::format("fd00::{}:{:x}", node, own + 2)}});
    if (has_odd_pods && chance(5)) addresses.clear();
    JsonObject metadata = {{"name", fmt::format("p{}", index)},
                           {"namespace", pick<const char*>({"a", "b", "c"})},
                           {"uid", fmt::format("u{}", index)},
                           {"creationTimestamp", fmt::format("2026-01-01T00:00:{:02}Z", number(60))},
                           {"labels", labels}};
    if (has_odd_pods && chance(8)) metadata["deletionTimestamp"] = "2026-01-02T00:00:00Z";
    const std::string phase = has_odd_pods && chance(6) ? pick<const char*>({"Succeeded", "Failed"}) : "Running";
    JsonObject spec = {{"nodeName", fmt::format("node-{}", node)}, {"containers", JsonArray{{{"ports", ports}}}}};
    if (has_odd_pods && chance(5)) spec["hostNetwork"] = true;
    return {{"metadata", metadata}, {"spec", spec}, {"status", {{"phase", phase}, {"podIPs", addresses}}}};
  }

  static Json named_port(const char* name, int port, const char* protocol) {
    return {{"name", name}, {"containerPort", port}, {"protocol", protocol}};
  }

  Json selector(const char* key, std::initializer_list<const char*> values) {
    JsonObject selector;
    if (chance(50)) selector["matchLabels"] = {{key, pick(values)}};
    if (chance(30)) {
      const std::string op = pick<const char*>({"In", "NotIn", "Exists", "DoesNotExist"});
      JsonObject expression = {{"key", chance(70) ? key : "tier"}, {"operator", op}};
      if (op == "In" || op == "NotIn") expression["values"] = JsonArray{pick(values), pick<const char*>({"1", "2", "web"})};
      selector["matchExpressions"] = JsonArray{expression};
    }
    return selector;
  }
  Json pod_selector() { return selector("app", {"web", "db", "job"}); }

  Json block() {
    struct Choice {
      const char* cidr;
      std::initializer_list<const char*> parts;
    };
    static const std::initializer_list<Choice> choices = {
        {"0.0.0.0/0", {"10.0.0.0/8", "192.0.2.0/24", "0.0.0.0/1", "128.0.0.0/1"}},
        {"10.0.0.0/16", {"10.0.0.0/24", "10.0.1.0/24", "10.0.0.4/32"}},
        {"10.0.1.0/24", {"10.0.1.0/29", "10.0.1.8/30", "10.0.1.255/32"}},
        {"192.0.2.0/24", {"192.0.2.0/28", "192.0.2.9/32", "192.0.2.128/25"}},
        {"192.0.2.77/24", {"192.0.2.64/26"}},
        {"::/0", {"fd00::/16", "2001:db8::/32", "::/1"}},
        {"fd00::/112", {"fd00::4/128", "fd00::/120"}},
        {"2001:db8::/32", {"2001:db8::/64", "2001:db8::9/128"}},
    };
    const Choice& choice = *(choices.begin() + number(static_cast<int>(choices.size())));
    JsonObject block = {{"cidr", choice.cidr}};
    JsonArray except;
    for (const char* part : choice.parts) {
      if (chance(35)) except.push_back(part);
    }
    if (!except.empty()) block["except"] = except;
    return block;
  }

  Json peer() {
    if (chance(30)) return {{"ipBlock", block()}};
    JsonObject peer;
    const int kind = number(3);
    if (kind != 0) peer["namespaceSelector"] = selector("team", {"x", "y", "z"});
    if (kind != 1) peer["podSelector"] = pod_selector();
    return peer;
  }

  Json port() {
    JsonObject port;
    if (chance(80)) port["protocol"] = pick<const char*>({"TCP", "TCP", "UDP", "SCTP"});
    const int kind = number(10);
    if (kind < 4) port["port"] = pick({53, 80, 81, 8080, 65535});
    if (kind >= 4 && kind < 7) port["port"] = pick<const char*>({"http", "dns"});
    if (kind >= 7 && kind < 9) {
      port["port"] = pick({80, 82});
      port["endPort"] = pick({82, 90, 65535});
    }
    return port;
  }

  Json rule(const char* peers_field) {
    JsonObject rule;
    JsonArray peers, ports;
    for (int i = chance(25) ? 0 : 1 + number(3); i > 0; --i) peers.push_back(peer());
    for (int i = chance(35) ? 0 : 1 + number(3); i > 0; --i) ports.push_back(port());
    if (!peers.empty() || chance(20)) rule[peers_field] = peers;
    if (!ports.empty() || chance(20)) rule["ports"] = ports;
    return rule;
  }

  Json policy(int index) {
    JsonArray types, ingress, egress;
    const int kind = number(3);
    if (kind != 1) types.push_back("Ingress");
    if (kind != 0) types.push_back("Egress");
    for (int i = number(3); i > 0; --i) ingress.push_back(rule("from"));
    for (int i = number(3); i > 0; --i) egress.push_back(rule("to"));
    return {{"metadata", {{"name", fmt::format("policy-{}", index)}, {"namespace", pick<const char*>({"a", "b", "c"})}}},
            {"spec", {{"podSelector", pod_selector()}, {"policyTypes", types}, {"ingress", ingress}, {"egress", egress}}}};
  }

  std::string endpoint(const PolicyWorld& world, bool is_v4) {
    for (int attempt = 0; attempt < 4 && chance(80); ++attempt) {
      const Json& pod = world.pods[static_cast<std::size_t>(number(static_cast<int>(world.pods.size())))];
      const JsonArray& addresses = find_array(pod, {"status", "podIPs"});
      for (const Json& each : addresses) {
        const std::string address = text_of(each, {"ip"});
        if (net::parse_ip(address).value().is_v4() == is_v4) return address;
      }
    }
    if (is_v4)
      return pick<const char*>({"192.0.2.1", "192.0.2.9", "192.0.2.77", "192.0.2.200", "198.51.100.1", "255.255.255.255"});
    return pick<const char*>({"2001:db8::1", "2001:db8::9", "2001:db8:1::1", "fe00::1", "fd00::ffff"});
  }

  std::mt19937 engine_;
};

}  // namespace slipway::testing_support
