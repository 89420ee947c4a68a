#include "components/network/policy/policy.h"

#include "kube/client.h"

#include <algorithm>
#include <set>

namespace slipway::components::network {

namespace {

using Problems = std::vector<std::string>;

// Fields that this release does not know may restrict what their parent allows.
bool has_only(const Json& value, std::initializer_list<std::string_view> known, const std::string& place, Problems& problems) {
  bool has_all = true;
  if (!value.is_object()) {
    problems.push_back(fmt::format("{}: is {}, must be an object", place, kind_name(value)));
    return false;
  }
  for (const auto& [key, ignored] : value.get_object()) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    problems.push_back(fmt::format("{}.{}: this release does not enforce this field", place, std::string_view(key)));
    has_all = false;
  }
  return has_all;
}

std::optional<Requirement> read_expression(const Json& value, const std::string& place, Problems& problems) {
  if (!has_only(value, {"key", "operator", "values"}, place, problems)) return std::nullopt;
  Requirement requirement{.key = text_of(value, {"key"}), .values = texts_of(value, {"values"})};
  std::ranges::sort(requirement.values);
  const std::string op = text_of(value, {"operator"});
  using Operator = Requirement::Operator;
  if (op == "In") requirement.op = Operator::in;
  if (op == "NotIn") requirement.op = Operator::not_in;
  if (op == "Exists") requirement.op = Operator::exists;
  if (op == "DoesNotExist") requirement.op = Operator::does_not_exist;
  if (requirement.op != Operator::never) return requirement;
  problems.push_back(fmt::format("{}.operator: \"{}\" is not one of In, NotIn, Exists, DoesNotExist", place, op));
  return std::nullopt;
}

std::optional<Selector> read_selector(const Json& value, const std::string& place, Problems& problems) {
  bool is_readable = has_only(value, {"matchLabels", "matchExpressions"}, place, problems);
  Selector selector;
  for (const auto& [key, text] : find_object(value, {"matchLabels"})) {
    const std::string content = text.is_string() ? std::string(text.get_string()) : "";
    selector.requirements.push_back({.key = key, .op = Requirement::Operator::in, .values = {content}});
  }
  std::size_t index = 0;
  for (const Json& each : find_array(value, {"matchExpressions"})) {
    auto requirement = read_expression(each, fmt::format("{}.matchExpressions[{}]", place, index++), problems);
    if (requirement) selector.requirements.push_back(std::move(*requirement));
    is_readable = is_readable && requirement;
  }
  if (!is_readable) return std::nullopt;
  std::ranges::sort(selector.requirements);
  return selector;
}

std::optional<net::Cidr> read_cidr(std::string_view text, const std::string& place, Problems& problems) {
  const Result<net::Cidr> cidr = net::parse_cidr(text);
  if (cidr.ok()) return cidr.value();
  problems.push_back(fmt::format("{}: {}", place, cidr.error().message()));
  return std::nullopt;
}

std::optional<IpBlock> read_block(const Json& value, const std::string& place, Problems& problems) {
  if (!has_only(value, {"cidr", "except"}, place, problems)) return std::nullopt;
  const auto cidr = read_cidr(text_of(value, {"cidr"}), place + ".cidr", problems);
  bool is_readable = cidr.has_value();
  std::vector<net::Cidr> except;
  std::size_t index = 0;
  for (const std::string& each : texts_of(value, {"except"})) {
    const auto excepted = read_cidr(each, fmt::format("{}.except[{}]", place, index++), problems);
    if (excepted) except.push_back(*excepted);
    is_readable = is_readable && excepted;
  }
  if (!is_readable) return std::nullopt;
  return IpBlock{*cidr, std::move(except)};
}

std::optional<Peer> read_peer(const Json& value, const std::string& place, Problems& problems) {
  if (!has_only(value, {"podSelector", "namespaceSelector", "ipBlock"}, place, problems)) return std::nullopt;
  Peer peer;
  const Json* pods = find(value, {"podSelector"});
  const Json* namespaces = find(value, {"namespaceSelector"});
  if (const Json* block = find(value, {"ipBlock"})) {
    if (pods || namespaces) {
      problems.push_back(fmt::format("{}: ipBlock cannot be combined with podSelector or namespaceSelector", place));
      return std::nullopt;
    }
    peer.block = read_block(*block, place + ".ipBlock", problems);
    if (!peer.block) return std::nullopt;
    return peer;
  }
  if (!pods && !namespaces) {
    problems.push_back(fmt::format("{}: has none of podSelector, namespaceSelector, ipBlock", place));
    return std::nullopt;
  }
  if (pods) peer.pods = read_selector(*pods, place + ".podSelector", problems);
  if (namespaces) peer.namespaces = read_selector(*namespaces, place + ".namespaceSelector", problems);
  if ((pods && !peer.pods) || (namespaces && !peer.namespaces)) return std::nullopt;
  return peer;
}

std::optional<Protocol> read_protocol(const std::string& text) {
  if (text.empty() || text == "TCP") return Protocol::tcp;
  if (text == "UDP") return Protocol::udp;
  if (text == "SCTP") return Protocol::sctp;
  return std::nullopt;
}

std::optional<Port> read_port(const Json& value, const std::string& place, Problems& problems) {
  if (!has_only(value, {"protocol", "port", "endPort"}, place, problems)) return std::nullopt;
  const auto protocol = read_protocol(text_of(value, {"protocol"}));
  if (!protocol) {
    problems.push_back(fmt::format("{}.protocol: \"{}\" is not one of TCP, UDP, SCTP", place, text_of(value, {"protocol"})));
    return std::nullopt;
  }
  Port port{.protocol = *protocol};
  const Json* which = find(value, {"port"});
  const Json* end = find(value, {"endPort"});
  if (which && which->is_string()) {
    port.name = which->get_string();
    if (!end && !port.name.empty()) return port;
    problems.push_back(fmt::format("{}.endPort: cannot be combined with the name of a port", place));
    return std::nullopt;
  }
  if (!which && !end) return port;
  const int first = integer_of(value, {"port"}), last = end ? integer_of(value, {"endPort"}) : first;
  if (first < 1 || last > 65535 || last < first) {
    problems.push_back(fmt::format("{}: {}-{} is no range of ports between 1 and 65535", place, first, last));
    return std::nullopt;
  }
  port.first = static_cast<std::uint16_t>(first);
  port.last = static_cast<std::uint16_t>(last);
  return port;
}

PolicyRule read_rule(const Json& value, std::string_view peers_field, const std::string& place, Problems& problems) {
  PolicyRule rule;
  // A rule with an unknown field allows nothing.
  if (!has_only(value, {peers_field, "ports"}, place, problems)) return rule;
  const JsonArray& peers = find_array(value, {peers_field});
  const JsonArray& ports = find_array(value, {"ports"});
  rule.has_all_peers = peers.empty();
  rule.has_all_ports = ports.empty();
  for (std::size_t i = 0; i < peers.size(); ++i) {
    auto peer = read_peer(peers[i], fmt::format("{}.{}[{}]", place, peers_field, i), problems);
    if (peer) rule.peers.push_back(std::move(*peer));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    auto port = read_port(ports[i], fmt::format("{}.ports[{}]", place, i), problems);
    if (port) rule.ports.push_back(std::move(*port));
  }
  return rule;
}

// A name means a port of a pod, so it allows nothing outside of the cluster.
void report_named_ports_of_blocks(const PolicyRule& rule, const std::string& place, Problems& problems) {
  if (std::ranges::none_of(rule.peers, [](const Peer& peer) { return peer.block.has_value(); })) return;
  for (const Port& port : rule.ports) {
    if (port.name.empty()) continue;
    problems.push_back(
        fmt::format("{}.ports: the name \"{}\" means ports of pods; it allows no other address of an ipBlock", place, port.name));
  }
}

}  // namespace

bool Selector::matches(const Labels& labels) const {
  using Operator = Requirement::Operator;
  for (const Requirement& requirement : requirements) {
    const auto place = std::ranges::lower_bound(labels, requirement.key, {}, &Labels::value_type::first);
    const bool exists = place != labels.end() && place->first == requirement.key;
    const auto has_value = [&] { return exists && std::ranges::binary_search(requirement.values, place->second); };
    bool is_met = false;
    switch (requirement.op) {
      case Operator::in: is_met = has_value(); break;
      case Operator::not_in: is_met = !has_value(); break;
      case Operator::exists: is_met = exists; break;
      case Operator::does_not_exist: is_met = !exists; break;
      case Operator::never: break;
    }
    if (!is_met) return false;
  }
  return true;
}

Policy read_policy(const Json& object) {
  Policy policy;
  policy.space = kube::namespace_of(object);
  policy.name = kube::name_of(object);
  Problems& problems = policy.problems;
  const Json* spec = find(object, {"spec"});
  const Json none = JsonObject{};
  if (!spec) spec = &none;
  has_only(*spec, {"podSelector", "policyTypes", "ingress", "egress"}, "spec", problems);
  const Json* pods = find(*spec, {"podSelector"});
  policy.pods = read_selector(pods ? *pods : none, "spec.podSelector", problems).value_or(Selector());
  const std::vector<std::string> types = texts_of(*spec, {"policyTypes"});
  const JsonArray& ingress = find_array(*spec, {"ingress"});
  const JsonArray& egress = find_array(*spec, {"egress"});
  policy.isolates_ingress = types.empty() || std::ranges::find(types, "Ingress") != types.end();
  policy.isolates_egress = types.empty() ? !egress.empty() : std::ranges::find(types, "Egress") != types.end();
  for (const std::string& type : types) {
    if (type != "Ingress" && type != "Egress") {
      problems.push_back(fmt::format("spec.policyTypes: \"{}\" is not one of Ingress, Egress", type));
    }
  }
  for (std::size_t i = 0; policy.isolates_ingress && i < ingress.size(); ++i) {
    policy.ingress.push_back(read_rule(ingress[i], "from", fmt::format("spec.ingress[{}]", i), problems));
  }
  for (std::size_t i = 0; policy.isolates_egress && i < egress.size(); ++i) {
    const std::string place = fmt::format("spec.egress[{}]", i);
    policy.egress.push_back(read_rule(egress[i], "to", place, problems));
    report_named_ports_of_blocks(policy.egress.back(), place, problems);
  }
  const auto report_unused = [&](std::string_view field, std::string_view type, bool is_used, const JsonArray& rules) {
    if (is_used || rules.empty()) return;
    problems.push_back(fmt::format("spec.{}: has no effect, because spec.policyTypes does not contain {}", field, type));
  };
  report_unused("ingress", "Ingress", policy.isolates_ingress, ingress);
  report_unused("egress", "Egress", policy.isolates_egress, egress);
  return policy;
}

}  // namespace slipway::components::network
