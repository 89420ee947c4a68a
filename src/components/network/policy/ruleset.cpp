#include "components/network/policy/ruleset.h"

#include "base/check.h"
#include "components/render/document.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::components::network {

namespace {

constexpr std::string_view table = "inet slipway-network-policy";

std::string text_of_number(Number number, bool is_v4) {
  std::string text;
  const int parts = is_v4 ? 4 : 8, bits = is_v4 ? 8 : 16;
  for (int i = parts - 1; i >= 0; --i) {
    const auto part = static_cast<unsigned>((number >> (i * bits)) & ((1u << bits) - 1));
    text += is_v4 ? fmt::format("{}", part) : fmt::format("{:x}", part);
    if (i > 0) text += is_v4 ? "." : ":";
  }
  return text;
}

std::string_view family(bool is_v4) { return is_v4 ? "ip" : "ip6"; }
std::string_view suffix(bool is_v4) { return is_v4 ? "v4" : "v6"; }
std::string_view type_of_addresses(bool is_v4) { return is_v4 ? "ipv4_addr" : "ipv6_addr"; }

std::string text_of_element(const Set& set, const Element& element) {
  const std::string address = net::to_string(element.address);
  return set.kind == Set::Kind::endpoints ? fmt::format("{} . {}", address, element.port) : address;
}

std::string list_of_elements(const Set& set, const std::vector<Element>& elements) {
  std::string text;
  for (const Element& each : elements) {
    if (!text.empty()) text += ", ";
    text += text_of_element(set, each);
  }
  for (const AddressRange& each : set.ranges) {
    if (!text.empty()) text += ", ";
    text += text_of_number(each.first, set.is_v4);
    if (each.first != each.last) text += "-" + text_of_number(each.last, set.is_v4);
  }
  return text;
}

std::string add_set(const std::string& name, const Set& set) {
  const std::string_view more = set.kind == Set::Kind::endpoints ? " . inet_service" : "";
  const std::string_view flags = set.kind == Set::Kind::ranges ? " flags interval;" : "";
  std::string text = fmt::format("add set {} {} {{ type {}{};{} }}\n", table, name, type_of_addresses(set.is_v4), more, flags);
  const std::string elements = list_of_elements(set, set.elements);
  if (!elements.empty()) text += fmt::format("add element {} {} {{ {} }}\n", table, name, elements);
  return text;
}

std::string add_chain(const std::string& name, const Chain& chain) {
  std::string text = fmt::format("add chain {} {}\n", table, name);
  const std::string rules = text_of_rules(chain);
  for (std::size_t from = 0; from < rules.size();) {
    const std::size_t end = rules.find('\n', from);
    text += fmt::format("add rule {} {} {}\n", table, name, std::string_view(rules).substr(from, end - from));
    from = end + 1;
  }
  return text;
}

std::string text_of_rule(const AllowRule& rule, Direction direction) {
  std::string text;
  const std::string_view peer = direction == Direction::ingress ? "saddr" : "daddr";
  if (!rule.peers.empty()) {
    text += fmt::format("{} {} @{} ", family(*rule.is_v4), peer, rule.peers);
  } else if (rule.is_v4 && rule.endpoints.empty()) {
    text += fmt::format("meta nfproto {} ", *rule.is_v4 ? "ipv4" : "ipv6");
  }
  if (!rule.endpoints.empty()) {
    text += fmt::format("{} daddr . {} dport @{} ", family(*rule.is_v4), to_string(*rule.protocol), rule.endpoints);
  } else if (rule.protocol && rule.ports.empty()) {
    text += fmt::format("meta l4proto {} ", to_string(*rule.protocol));
  } else if (rule.protocol) {
    std::string ports;
    for (const auto& [first, last] : rule.ports) {
      if (!ports.empty()) ports += ", ";
      ports += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    }
    text += fmt::format("{} dport {{ {} }} ", to_string(*rule.protocol), ports);
  }
  return text + "return";
}

// What is added to and removed from a list of elements of a set or map, as text.
struct ElementChange {
  std::string added, removed;

  void add(std::string_view element) { append(added, element); }
  void remove(std::string_view element) { append(removed, element); }
  std::string text(std::string_view name) const {
    std::string text;
    if (!removed.empty()) text += fmt::format("delete element {} {} {{ {} }}\n", table, name, removed);
    if (!added.empty()) text += fmt::format("add element {} {} {{ {} }}\n", table, name, added);
    return text;
  }

 private:
  static void append(std::string& list, std::string_view element) {
    if (!list.empty()) list += ", ";
    list += element;
  }
};

std::string change_of_set(const std::string& name, const Set& from, const Set& to) {
  std::vector<Element> gone, fresh;
  std::ranges::set_difference(from.elements, to.elements, std::back_inserter(gone));
  std::ranges::set_difference(to.elements, from.elements, std::back_inserter(fresh));
  ElementChange change;
  for (const Element& each : gone) change.remove(text_of_element(to, each));
  for (const Element& each : fresh) change.add(text_of_element(to, each));
  return change.text(name);
}

// The elements of the fixed sets and maps for one family.
std::string change_of_pods(const std::vector<net::IpAddress>& from, const std::vector<net::IpAddress>& to, bool is_v4) {
  ElementChange change;
  for (const net::IpAddress& each : from) {
    if (each.is_v4() == is_v4 && !std::ranges::binary_search(to, each)) change.remove(net::to_string(each));
  }
  for (const net::IpAddress& each : to) {
    if (each.is_v4() == is_v4 && !std::ranges::binary_search(from, each)) change.add(net::to_string(each));
  }
  return change.text(fmt::format("pods-{}", suffix(is_v4)));
}

std::string change_of_self(const Ruleset& from, const Ruleset& to, bool is_v4) {
  const auto is_isolated = [](const Ruleset& ruleset, const net::IpAddress& address) {
    return ruleset.ingress.chains.contains(address) || ruleset.egress.chains.contains(address);
  };
  ElementChange change;
  const auto pair = [](const net::IpAddress& address) { return fmt::format("{0} . {0}", net::to_string(address)); };
  for (const net::IpAddress& each : from.pods) {
    if (each.is_v4() == is_v4 && is_isolated(from, each) && !is_isolated(to, each)) change.remove(pair(each));
  }
  for (const net::IpAddress& each : to.pods) {
    if (each.is_v4() == is_v4 && is_isolated(to, each) && !is_isolated(from, each)) change.add(pair(each));
  }
  return change.text(fmt::format("self-{}", suffix(is_v4)));
}

std::string change_of_map(const Isolation& from, const Isolation& to, std::string_view direction, bool is_v4) {
  ElementChange change;
  for (const auto& [address, chain] : from.chains) {
    const auto next = to.chains.find(address);
    if (address.is_v4() == is_v4 && (next == to.chains.end() || next->second != chain)) change.remove(net::to_string(address));
  }
  for (const auto& [address, chain] : to.chains) {
    const auto before = from.chains.find(address);
    if (address.is_v4() == is_v4 && (before == from.chains.end() || before->second != chain)) {
      change.add(fmt::format("{} : jump {}", net::to_string(address), chain));
    }
  }
  return change.text(fmt::format("{}-{}", direction, suffix(is_v4)));
}

std::string change_of_starting(const Isolation& from, const Isolation& to, std::string_view direction) {
  if (from.starting == to.starting) return "";
  std::string text = fmt::format("flush chain {} starting-{}\n", table, direction);
  for (const std::string& each : to.starting) text += fmt::format("add rule {} starting-{} jump {}\n", table, direction, each);
  return text;
}

}  // namespace

Number number_of(const net::IpAddress& address) {
  Number number = 0;
  const int count = address.is_v4() ? 4 : 16;
  for (int i = 0; i < count; ++i) number = number << 8 | address.bytes()[static_cast<std::size_t>(i)];
  return number;
}

std::string text_of_rules(const Chain& chain) {
  std::string text;
  for (const AllowRule& rule : chain.rules) text += text_of_rule(rule, chain.direction) + "\n";
  return text + "drop\n";
}

Transactions differences(const Ruleset& from, const Ruleset& to) {
  Transactions transactions;
  std::string& change = transactions.change;
  for (const auto& [name, set] : to.sets) {
    const auto before = from.sets.find(name);
    change += before == from.sets.end() ? add_set(name, set) : change_of_set(name, before->second, set);
  }
  for (const auto& [name, chain] : to.chains) {
    if (!from.chains.contains(name)) change += add_chain(name, chain);
  }
  for (const bool is_v4 : {true, false}) {
    change += change_of_pods(from.pods, to.pods, is_v4);
    change += change_of_self(from, to, is_v4);
    change += change_of_map(from.egress, to.egress, "egress", is_v4);
    change += change_of_map(from.ingress, to.ingress, "ingress", is_v4);
  }
  change += change_of_starting(from.egress, to.egress, "egress");
  change += change_of_starting(from.ingress, to.ingress, "ingress");
  std::string& cleanup = transactions.cleanup;
  for (const auto& [name, chain] : from.chains) {
    if (!to.chains.contains(name)) cleanup += fmt::format("flush chain {0} {1}\ndelete chain {0} {1}\n", table, name);
  }
  for (const auto& [name, set] : from.sets) {
    if (!to.sets.contains(name)) cleanup += fmt::format("delete set {} {}\n", table, name);
  }
  return transactions;
}

std::string whole_table(const Ruleset& ruleset, const std::string& bridge) {
  const Result<std::string> fixed = fill_text("network/network-policies.nft", {{"BRIDGE", bridge}});
  CHECK(fixed.ok());
  return no_table() + fixed.value() + differences({}, ruleset).change;
}

// The first line creates the table, so that the second one also succeeds without it.
std::string no_table() { return fmt::format("table {0}\ndelete table {0}\n", table); }

}  // namespace slipway::components::network
