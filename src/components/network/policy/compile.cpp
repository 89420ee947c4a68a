#include "components/network/policy/compile.h"

#include "base/digest.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

namespace slipway::components::network {

namespace {

// 128 bits: nobody finds two policies with the same name of a chain.
std::string digest_of(const std::string& key) { return sha256_hex(key).substr(0, 32); }

std::string name_of_set(std::string_view kind, const std::string& key, bool is_v4) {
  return fmt::format("{}-{}-v{}", kind, digest_of(key), is_v4 ? 4 : 6);
}

// Pods with the same labels are the same to every selector.
struct PodGroup {
  const Labels* labels = nullptr;
  std::vector<const Pod*> pods;
};

// Texts of users are written with their length, so that two keys are equal only if all of their parts are.
void append_text(std::string& key, std::string_view text) { key += fmt::format("{}:{};", text.size(), text); }

void append_selector(std::string& key, const std::optional<Selector>& selector) {
  if (!selector) {
    key += "-";
    return;
  }
  key += "{";
  for (const Requirement& each : selector->requirements) {
    append_text(key, each.key);
    key += fmt::format("{}(", static_cast<int>(each.op));
    for (const std::string& value : each.values) append_text(key, value);
    key += ")";
  }
  key += "}";
}

Number last_of(const net::Cidr& cidr) {
  const int host_bits = cidr.bits() - cidr.prefix;
  const Number hosts = host_bits == 128 ? ~Number{0} : (Number{1} << host_bits) - 1;
  return number_of(cidr.network()) | hosts;
}

// The addresses of blocks of one family without their exceptions, sorted and joined.
std::vector<AddressRange> ranges_of(const std::vector<Peer>& peers, bool is_v4) {
  std::vector<AddressRange> ranges;
  for (const Peer& peer : peers) {
    if (!peer.block || peer.block->cidr.is_v4() != is_v4) continue;
    std::vector<AddressRange> rest = {{number_of(peer.block->cidr.network()), last_of(peer.block->cidr)}};
    for (const net::Cidr& except : peer.block->except) {
      if (except.is_v4() != is_v4) continue;
      const Number first = number_of(except.network()), last = last_of(except);
      std::vector<AddressRange> cut;
      for (const AddressRange& each : rest) {
        if (last < each.first || first > each.last) {
          cut.push_back(each);
          continue;
        }
        if (each.first < first) cut.push_back({each.first, first - 1});
        if (last < each.last) cut.push_back({last + 1, each.last});
      }
      rest = std::move(cut);
    }
    ranges.insert(ranges.end(), rest.begin(), rest.end());
  }
  std::ranges::sort(ranges, {}, &AddressRange::first);
  std::vector<AddressRange> joined;
  for (const AddressRange& each : ranges) {
    if (!joined.empty() && (each.first <= joined.back().last || each.first == joined.back().last + 1)) {
      joined.back().last = std::max(joined.back().last, each.last);
    } else {
      joined.push_back(each);
    }
  }
  return joined;
}

bool is_whole_family(const std::vector<AddressRange>& ranges, bool is_v4) {
  const Number last = is_v4 ? Number{0xffffffff} : ~Number{0};
  return ranges.size() == 1 && ranges.front().first == 0 && ranges.front().last == last;
}

bool is_within(const std::vector<AddressRange>& ranges, const net::IpAddress& address) {
  const Number number = number_of(address);
  return std::ranges::any_of(ranges, [&](const AddressRange& range) { return range.first <= number && number <= range.last; });
}

std::string key_of(const std::vector<AddressRange>& ranges) {
  std::string key;
  for (const AddressRange& each : ranges) {
    for (const Number number : {each.first, each.last}) {
      key += fmt::format("{:x}.{:x}-", static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number));
    }
  }
  return key;
}

class Compiler {
 public:
  Compiler(const ClusterFacts& facts, const std::string& node) : facts_(facts), node_(node) {
    for (const auto& policy : facts.policies) policies_[policy->space].push_back(policy.get());
    for (auto& [space, policies] : policies_) std::ranges::sort(policies, {}, &Policy::name);
    find_owners();
    group_pods();
  }

  Ruleset compile() {
    for (const auto& [space, policies] : policies_) {
      const auto groups = groups_.find(space);
      if (groups != groups_.end()) {
        for (const auto& [labels, group] : groups->second) isolate(group, policies);
      }
      const auto starting = starting_.find(space);
      if (starting != starting_.end()) {
        for (const Pod* pod : starting->second) restrict_starting(*pod, policies);
      }
    }
    for (const auto& [address, pod] : owners_) {
      if (pod->node == node_) ruleset_.pods.push_back(address);
    }
    std::ranges::sort(ruleset_.pods);
    for (const Direction direction : {Direction::ingress, Direction::egress}) {
      std::vector<std::string>& starting = ruleset_.of(direction).starting;
      std::ranges::sort(starting);
      starting.erase(std::unique(starting.begin(), starting.end()), starting.end());
    }
    return std::move(ruleset_);
  }

 private:
  using Peers = std::vector<Peer>;
  using OwnedAddresses = std::vector<std::pair<const Pod*, net::IpAddress>>;

  static bool is_older_claim(const Pod& one, const Pod& other) {
    return std::tuple(!one.is_ending, std::string_view(one.created), std::string_view(one.uid)) <
           std::tuple(!other.is_ending, std::string_view(other.created), std::string_view(other.uid));
  }

  void find_owners() {
    for (const auto& pod : facts_.pods) {
      if (pod->uses_host_network || pod->has_ended) continue;
      if (pod->addresses.empty() && !pod->is_ending && pod->node == node_) starting_[pod->space].push_back(pod.get());
      for (const net::IpAddress& address : pod->addresses) {
        const auto [place, is_new] = owners_.emplace(address, pod.get());
        if (!is_new && is_older_claim(*place->second, *pod)) place->second = pod.get();
        (address.is_v4() ? has_v4_ : has_v6_) = true;
      }
    }
  }

  void group_pods() {
    std::set<const Pod*> known;
    for (const auto& [address, pod] : owners_) {
      if (!known.insert(pod).second) continue;
      PodGroup& group = groups_[pod->space][pod->labels];
      group.labels = &pod->labels;
      group.pods.push_back(pod);
    }
  }

  std::vector<bool> families() const {
    std::vector<bool> families;
    if (has_v4_ || !has_v6_) families.push_back(true);
    if (has_v6_) families.push_back(false);
    return families;
  }

  // Calls `use` with each address that a pod owns.
  template <class Use>
  void for_addresses(const Pod& pod, const Use& use) const {
    for (const net::IpAddress& address : pod.addresses) {
      if (owners_.at(address) == &pod) use(address);
    }
  }

  static std::vector<const Policy*> isolating(const Labels& labels, const std::vector<const Policy*>& policies,
                                              Direction direction) {
    std::vector<const Policy*> found;
    for (const Policy* policy : policies) {
      const bool isolates = direction == Direction::ingress ? policy->isolates_ingress : policy->isolates_egress;
      if (isolates && policy->pods.matches(labels)) found.push_back(policy);
    }
    return found;
  }

  void isolate(const PodGroup& group, const std::vector<const Policy*>& policies) {
    if (std::ranges::none_of(group.pods, [&](const Pod* pod) { return pod->node == node_; })) return;
    for (const Direction direction : {Direction::ingress, Direction::egress}) {
      const std::vector<const Policy*> found = isolating(*group.labels, policies, direction);
      if (found.empty()) continue;
      const std::string& chain = chain_of(found, direction);
      for (const Pod* pod : group.pods) {
        if (pod->node != node_) continue;
        for_addresses(*pod, [&](const net::IpAddress& address) { ruleset_.of(direction).chains.emplace(address, chain); });
      }
    }
  }

  void restrict_starting(const Pod& pod, const std::vector<const Policy*>& policies) {
    for (const Direction direction : {Direction::ingress, Direction::egress}) {
      const std::vector<const Policy*> found = isolating(pod.labels, policies, direction);
      if (!found.empty()) ruleset_.of(direction).starting.push_back(chain_of(found, direction));
    }
  }

  // The chain of the pods that these policies isolate.
  const std::string& chain_of(const std::vector<const Policy*>& policies, Direction direction) {
    std::string& name = chains_[{direction, policies}];
    if (!name.empty()) return name;
    Chain chain{.direction = direction, .rules = {}};
    for (const Policy* policy : policies) {
      for (const PolicyRule& rule : direction == Direction::ingress ? policy->ingress : policy->egress) {
        add_rules(rule, policy->space, chain);
      }
    }
    name = fmt::format("{}-{}", direction == Direction::ingress ? "in" : "out", digest_of(text_of_rules(chain)));
    ruleset_.chains.emplace(name, std::move(chain));
    return name;
  }

  // A rule of a policy allows each of its peers with each of its ports.
  void add_rules(const PolicyRule& rule, const std::string& space, Chain& chain) {
    if (!rule.has_all_peers && rule.peers.empty()) return;
    const bool has_names = std::ranges::any_of(rule.ports, [](const Port& port) { return !port.name.empty(); });
    const bool has_numbers = std::ranges::any_of(rule.ports, [](const Port& port) { return port.name.empty(); });
    std::vector<AllowRule> peers;
    // For egress the set of a named port contains peers and ports.
    if (rule.has_all_ports || has_numbers || (has_names && chain.direction == Direction::ingress)) {
      peers = peers_of(rule, space);
    }
    for (const AllowRule& each : peers) add_ports(rule, each, chain);
    for (const Port& port : rule.ports) {
      if (!port.name.empty()) add_named_port(rule, peers, space, port, chain);
    }
  }

  // A rule for each kind and family of the peers, without ports.
  std::vector<AllowRule> peers_of(const PolicyRule& rule, const std::string& space) {
    if (rule.has_all_peers) return {AllowRule()};
    std::vector<AllowRule> rules;
    add_selected_peers(rule, space, rules);
    add_blocks(rule, rules);
    return rules;
  }

  void add_selected_peers(const PolicyRule& rule, const std::string& space, std::vector<AllowRule>& rules) {
    const std::string key = key_of_selectors(rule.peers, space);
    if (key.empty()) return;
    for (const bool is_v4 : families()) {
      std::string name = name_of_set("pods", key, is_v4);
      if (!ruleset_.sets.contains(name)) {
        ruleset_.sets.emplace(name, set_of_addresses(pods_of(key, rule.peers, space), is_v4));
      }
      rules.push_back({.is_v4 = is_v4, .peers = std::move(name)});
    }
  }

  void add_blocks(const PolicyRule& rule, std::vector<AllowRule>& rules) {
    for (const bool is_v4 : {true, false}) {
      const std::vector<AddressRange> ranges = ranges_of(rule.peers, is_v4);
      if (ranges.empty()) continue;
      if (is_whole_family(ranges, is_v4)) {
        rules.push_back({.is_v4 = is_v4});
        continue;
      }
      const std::string name = name_of_set("blocks", key_of(ranges), is_v4);
      ruleset_.sets.emplace(name, Set{.kind = Set::Kind::ranges, .is_v4 = is_v4, .elements = {}, .ranges = ranges});
      rules.push_back({.is_v4 = is_v4, .peers = name});
    }
  }

  static void add_ports(const PolicyRule& rule, const AllowRule& peers, Chain& chain) {
    if (rule.has_all_ports) {
      chain.rules.push_back(peers);
      return;
    }
    for (const Protocol protocol : {Protocol::tcp, Protocol::udp, Protocol::sctp}) {
      AllowRule with_ports = peers;
      with_ports.protocol = protocol;
      bool has_all = false;
      for (const Port& port : rule.ports) {
        if (port.protocol != protocol || !port.name.empty()) continue;
        has_all = has_all || port.is_all();
        with_ports.ports.emplace_back(port.first, port.last);
      }
      if (with_ports.ports.empty()) continue;
      with_ports.ports = has_all ? decltype(with_ports.ports)() : joined(std::move(with_ports.ports));
      chain.rules.push_back(std::move(with_ports));
    }
  }

  // Ranges of ports, sorted and apart from each other, as nft requires.
  static std::vector<std::pair<std::uint16_t, std::uint16_t>> joined(
      std::vector<std::pair<std::uint16_t, std::uint16_t>> ranges) {
    std::ranges::sort(ranges);
    std::vector<std::pair<std::uint16_t, std::uint16_t>> joined;
    for (const auto& [first, last] : ranges) {
      if (!joined.empty() && first <= joined.back().second + 1) {
        joined.back().second = std::max(joined.back().second, last);
      } else {
        joined.emplace_back(first, last);
      }
    }
    return joined;
  }

  // The name of a port means a number in each destination pod: for ingress in the pods of this node, for egress in the peers.
  void add_named_port(const PolicyRule& rule, const std::vector<AllowRule>& peers, const std::string& space, const Port& port,
                      Chain& chain) {
    if (chain.direction == Direction::egress) {
      const std::string key =
          fmt::format("{};{};{}", key_of_destinations(rule, space), static_cast<int>(port.protocol), port.name);
      for (const bool is_v4 : families()) {
        const std::string name = name_of_set("ports", key, is_v4);
        if (!ruleset_.sets.contains(name)) {
          ruleset_.sets.emplace(name, set_of_endpoints(destinations_of(rule, space), port, is_v4, false));
        }
        chain.rules.push_back({.is_v4 = is_v4, .protocol = port.protocol, .endpoints = name});
      }
      return;
    }
    const std::string key = fmt::format("{};{}", static_cast<int>(port.protocol), port.name);
    for (const AllowRule& each : peers) {
      for (const bool is_v4 : families()) {
        if (each.is_v4 && *each.is_v4 != is_v4) continue;
        const std::string name = name_of_set("own", key, is_v4);
        if (!ruleset_.sets.contains(name))
          ruleset_.sets.emplace(name, set_of_endpoints(addresses_of(all_pods()), port, is_v4, true));
        AllowRule with_endpoints = each;
        with_endpoints.is_v4 = is_v4;
        with_endpoints.protocol = port.protocol;
        with_endpoints.endpoints = name;
        chain.rules.push_back(std::move(with_endpoints));
      }
    }
  }

  // Empty if no peer has a selector.
  static std::string key_of_selectors(const Peers& peers, const std::string& space) {
    std::set<std::string> keys;
    for (const Peer& peer : peers) {
      if (peer.block) continue;
      std::string key;
      if (!peer.namespaces) append_text(key, space);
      append_selector(key, peer.namespaces);
      append_selector(key, peer.pods);
      keys.insert(std::move(key));
    }
    std::string all;
    for (const std::string& key : keys) append_text(all, key);
    return all;
  }

  static std::string key_of_destinations(const PolicyRule& rule, const std::string& space) {
    if (rule.has_all_peers) return "all";
    std::string key = key_of_selectors(rule.peers, space);
    for (const bool is_v4 : {true, false}) key += "/" + key_of(ranges_of(rule.peers, is_v4));
    return key;
  }

  const std::vector<const Pod*>& pods_of(const std::string& key, const Peers& peers, const std::string& space) {
    const auto known = selected_.find(key);
    if (known != selected_.end()) return known->second;
    std::set<const Pod*> found;
    for (const Peer& peer : peers) {
      if (peer.block) continue;
      for (const auto& [group_space, groups] : groups_) {
        if (!peer.namespaces ? group_space != space : !matches_namespace(*peer.namespaces, group_space)) continue;
        for (const auto& [labels, group] : groups) {
          if (!peer.pods || peer.pods->matches(labels)) found.insert(group.pods.begin(), group.pods.end());
        }
      }
    }
    return selected_.emplace(key, std::vector<const Pod*>(found.begin(), found.end())).first->second;
  }

  bool matches_namespace(const Selector& selector, const std::string& space) const {
    const auto labels = facts_.namespaces.find(space);
    return labels != facts_.namespaces.end() && selector.matches(labels->second);
  }

  std::vector<const Pod*> all_pods() const {
    std::vector<const Pod*> pods;
    for (const auto& [space, groups] : groups_) {
      for (const auto& [labels, group] : groups) pods.insert(pods.end(), group.pods.begin(), group.pods.end());
    }
    return pods;
  }

  // Each address of a pod that the peers of a rule select, by selectors or by blocks.
  OwnedAddresses destinations_of(const PolicyRule& rule, const std::string& space) {
    if (rule.has_all_peers) return addresses_of(all_pods());
    const std::string key = key_of_selectors(rule.peers, space);
    OwnedAddresses found = key.empty() ? OwnedAddresses() : addresses_of(pods_of(key, rule.peers, space));
    for (const bool is_v4 : families()) {
      const std::vector<AddressRange> ranges = ranges_of(rule.peers, is_v4);
      if (ranges.empty()) continue;
      for (const auto& [address, pod] : owners_) {
        if (address.is_v4() == is_v4 && is_within(ranges, address)) found.emplace_back(pod, address);
      }
    }
    return found;
  }

  OwnedAddresses addresses_of(const std::vector<const Pod*>& pods) const {
    OwnedAddresses found;
    for (const Pod* pod : pods) {
      for_addresses(*pod, [&](const net::IpAddress& address) { found.emplace_back(pod, address); });
    }
    return found;
  }

  Set set_of_addresses(const std::vector<const Pod*>& pods, bool is_v4) const {
    Set set{.kind = Set::Kind::addresses, .is_v4 = is_v4, .elements = {}, .ranges = {}};
    for (const auto& [pod, address] : addresses_of(pods)) {
      if (address.is_v4() == is_v4) set.elements.push_back({address, 0});
    }
    std::ranges::sort(set.elements);
    return set;
  }

  Set set_of_endpoints(const OwnedAddresses& addresses, const Port& port, bool is_v4, bool is_own) const {
    Set set{.kind = Set::Kind::endpoints, .is_v4 = is_v4, .elements = {}, .ranges = {}};
    for (const auto& [pod, address] : addresses) {
      if (address.is_v4() != is_v4 || (is_own && pod->node != node_)) continue;
      for (const NamedPort& each : pod->ports) {
        if (each.name == port.name && each.protocol == port.protocol) set.elements.push_back({address, each.port});
      }
    }
    std::ranges::sort(set.elements);
    set.elements.erase(std::unique(set.elements.begin(), set.elements.end()), set.elements.end());
    return set;
  }

  const ClusterFacts& facts_;
  const std::string& node_;
  std::map<std::string, std::vector<const Policy*>> policies_;  // by namespace
  std::map<net::IpAddress, const Pod*> owners_;
  bool has_v4_ = false, has_v6_ = false;
  std::map<std::string, std::vector<const Pod*>> starting_;            // by namespace
  std::map<std::string, std::map<Labels, PodGroup>> groups_;           // by namespace
  std::unordered_map<std::string, std::vector<const Pod*>> selected_;  // by key_of_selectors
  std::map<std::pair<Direction, std::vector<const Policy*>>, std::string> chains_;
  Ruleset ruleset_;
};

}  // namespace

Ruleset compile(const ClusterFacts& facts, const std::string& node) { return Compiler(facts, node).compile(); }

}  // namespace slipway::components::network
