#include "components/network/policy/compile.h"

#include "support/network_policy_world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace slipway::components::network {
namespace {

using testing_support::Connection;
using testing_support::PolicyWorld;
using testing_support::PolicyWorldGenerator;

ClusterFacts facts_of(const PolicyWorld& world) {
  ClusterFacts facts;
  for (const Json& each : world.namespaces) facts.namespaces[read_namespace(each).name] = read_namespace(each).labels;
  for (const Json& each : world.pods) facts.pods.push_back(std::make_shared<Pod>(read_pod(each)));
  for (const Json& each : world.policies) facts.policies.push_back(std::make_shared<Policy>(read_policy(each)));
  return facts;
}

// Interprets rules for the first packet of a connection, as the kernel does.
class Interpreter {
 public:
  Interpreter(const Ruleset& ruleset, const Connection& connection) : ruleset_(ruleset), connection_(connection) {
    source_ = net::parse_ip(connection.source).value();
    destination_ = net::parse_ip(connection.destination).value();
  }

  // leaves_bridge, enters_bridge: whether the packet comes from, goes to the interface of the pods
  bool forwards(bool leaves_bridge, bool enters_bridge) const {
    if (source_ == destination_ && is_isolated(source_)) return true;
    return leaves_pod(leaves_bridge) && passes(ruleset_.ingress, destination_, enters_bridge);
  }
  bool leaves_pod(bool leaves_bridge) const { return passes(ruleset_.egress, source_, leaves_bridge); }

 private:
  bool is_isolated(const net::IpAddress& address) const {
    return ruleset_.ingress.chains.contains(address) || ruleset_.egress.chains.contains(address);
  }

  bool passes(const Isolation& isolation, const net::IpAddress& address, bool is_at_bridge) const {
    const auto chain = isolation.chains.find(address);
    if (chain != isolation.chains.end() && !allows(ruleset_.chains.at(chain->second))) return false;
    if (!is_at_bridge || std::ranges::binary_search(ruleset_.pods, address)) return true;
    return std::ranges::all_of(isolation.starting, [&](const std::string& name) { return allows(ruleset_.chains.at(name)); });
  }

  bool allows(const Chain& chain) const {
    const net::IpAddress& peer = chain.direction == Direction::ingress ? source_ : destination_;
    return std::ranges::any_of(chain.rules, [&](const AllowRule& rule) {
      if (rule.is_v4 && *rule.is_v4 != peer.is_v4()) return false;
      if (!rule.peers.empty() && !contains(ruleset_.sets.at(rule.peers), {peer, 0})) return false;
      if (rule.protocol && connection_.protocol != name_of(*rule.protocol)) return false;
      const auto port = static_cast<std::uint16_t>(connection_.port);
      if (!rule.endpoints.empty() && !contains(ruleset_.sets.at(rule.endpoints), {destination_, port})) return false;
      return rule.ports.empty() ||
             std::ranges::any_of(rule.ports, [&](const auto& range) { return range.first <= port && port <= range.second; });
    });
  }

  static std::string_view name_of(Protocol protocol) {
    return protocol == Protocol::tcp ? "TCP" : protocol == Protocol::udp ? "UDP" : "SCTP";
  }

  static bool contains(const Set& set, const Element& element) {
    if (set.kind != Set::Kind::ranges) return std::ranges::binary_search(set.elements, element);
    const Number number = number_of(element.address);
    return std::ranges::any_of(set.ranges, [&](const auto& range) { return range.first <= number && number <= range.last; });
  }

  const Ruleset& ruleset_;
  const Connection& connection_;
  net::IpAddress source_, destination_;
};

std::string node_of(const PolicyWorld& world, const std::string& address) {
  const Json* pod = testing_support::policy_evaluator::pod_of(world, address);
  return pod ? text_of(*pod, {"spec", "nodeName"}) : "";
}

std::string text_of_world(const PolicyWorld& world) {
  std::string text;
  for (const auto* objects : {&world.namespaces, &world.pods, &world.policies}) {
    for (const Json& each : *objects) text += emit_json(each, JsonStyle::compact) + "\n";
  }
  return text;
}

// Applies transactions to a ruleset as far as names are concerned: nothing may refer to what does not exist.
void expect_closed(const Ruleset& ruleset) {
  const auto expect_chain = [&](const std::string& name) { EXPECT_TRUE(ruleset.chains.contains(name)) << name; };
  for (const Isolation* isolation : {&ruleset.ingress, &ruleset.egress}) {
    for (const auto& [address, chain] : isolation->chains) expect_chain(chain);
    for (const std::string& chain : isolation->starting) expect_chain(chain);
  }
  std::set<std::string> used;
  for (const auto& [name, chain] : ruleset.chains) {
    for (const AllowRule& rule : chain.rules) {
      for (const std::string& set : {rule.peers, rule.endpoints}) {
        if (!set.empty()) used.insert(set);
      }
    }
  }
  for (const std::string& set : used) EXPECT_TRUE(ruleset.sets.contains(set)) << set;
  EXPECT_EQ(used.size(), ruleset.sets.size()) << "a set that no rule uses";
}

TEST(NetworkPolicyProperty, CompiledRulesDecideAsTheEvaluator) {
  const unsigned first = std::random_device{}();
  int denied = 0, checked = 0;
  for (unsigned seed = first; seed < first + 1000; ++seed) {
    PolicyWorldGenerator generator(seed);
    const PolicyWorld world = generator.world(4 + generator.number(14), generator.number(9));
    const ClusterFacts facts = facts_of(world);
    const std::vector<std::pair<std::string, Ruleset>> nodes = {{"node-0", compile(facts, "node-0")},
                                                                {"node-1", compile(facts, "node-1")}};
    for (const auto& [node, ruleset] : nodes) expect_closed(ruleset);
    for (int i = 0; i < 100; ++i) {
      const Connection connection = generator.connection(world);
      const std::string from = node_of(world, connection.source), to = node_of(world, connection.destination);
      bool passes = true;
      // A packet crosses the node of its source and the node of its destination, once if they are the same.
      for (const auto& [node, ruleset] : nodes) {
        if (node != from && node != to) continue;
        passes = passes && Interpreter(ruleset, connection).forwards(node == from, node == to);
      }
      const bool expected = testing_support::policy_evaluator::is_allowed(world, connection);
      denied += expected ? 0 : 1;
      ++checked;
      ASSERT_EQ(passes, expected) << "seed " << seed << ": " << describe(connection) << "\n" << text_of_world(world);
    }
  }
  // Neither all nor nothing is denied, or the comparison says nothing.
  EXPECT_GT(denied, checked / 20);
  EXPECT_LT(denied, checked * 9 / 10);
}

// One pod a node with an address, and one policy.
struct Small {
  PolicyWorld world;

  Small() { world.namespaces = {{{"metadata", {{"name", "a"}, {"labels", {{"team", "x"}}}}}}, {{"metadata", {{"name", "b"}}}}}; }
  Json& pod(const char* space, const char* name, const char* node, JsonArray addresses) {
    JsonArray list;
    for (const Json& each : addresses) list.push_back(JsonObject{{"ip", each}});
    world.pods.push_back({{"metadata", {{"name", name}, {"namespace", space}, {"labels", {{"app", name}}}}},
                          {"spec", {{"nodeName", node}, {"containers", JsonArray{{{"ports", JsonArray{}}}}}}},
                          {"status", {{"phase", "Running"}, {"podIPs", list}}}});
    return world.pods.back();
  }
  void policy(const char* space, Json spec) {
    world.policies.push_back(
        {{"metadata", {{"name", fmt::format("p{}", world.policies.size())}, {"namespace", space}}}, {"spec", std::move(spec)}});
  }
  Ruleset compiled(const std::string& node = "n") const { return compile(facts_of(world), node); }
  bool allows(const Connection& connection, bool from_bridge = true, bool to_bridge = true) const {
    return Interpreter(compiled(), connection).forwards(from_bridge, to_bridge);
  }
};

const Json deny_all = {{"podSelector", JsonObject{}}, {"policyTypes", JsonArray{"Ingress", "Egress"}}};

TEST(NetworkPolicyCompile, WithoutPoliciesNothingIsIsolated) {
  Small it;
  it.pod("a", "one", "n", {"10.0.0.2"});
  const Ruleset ruleset = it.compiled();
  EXPECT_TRUE(ruleset.chains.empty() && ruleset.sets.empty() && ruleset.ingress.chains.empty());
  EXPECT_EQ(ruleset.pods.size(), 1u);
}

TEST(NetworkPolicyCompile, PodsThatAreEndingKeepTheirRulesAndPodsThatEndedDoNot) {
  Small it;
  it.pod("a", "one", "n", {"10.0.0.2"}).at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  it.pod("a", "two", "n", {"10.0.0.3"}).at("status").as_object()["phase"] = "Failed";
  it.policy("a", deny_all);
  EXPECT_FALSE(it.allows({"10.0.0.9", "10.0.0.2", "TCP", 80}, false));
  EXPECT_TRUE(it.allows({"10.0.0.9", "10.0.0.3", "TCP", 80}, false));
}

TEST(NetworkPolicyCompile, AnAddressBelongsToThePodThatIsNotEnding) {
  Small it;
  it.pod("a", "old", "n", {"10.0.0.2"}).at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  it.pod("b", "new", "n", {"10.0.0.2"});
  it.policy("a", deny_all);
  EXPECT_TRUE(it.allows({"10.0.0.9", "10.0.0.2", "TCP", 80}, false));
}

TEST(NetworkPolicyCompile, PodsInTheHostsNetworkAreLeftOut) {
  Small it;
  it.pod("a", "host", "n", {"192.168.0.2"}).at("spec").as_object()["hostNetwork"] = true;
  it.pod("b", "one", "n", {"10.0.0.2"});
  it.policy("a", deny_all);
  it.policy("b", {{"podSelector", JsonObject{}},
                  {"policyTypes", JsonArray{"Ingress"}},
                  {"ingress", JsonArray{{{"from", JsonArray{{{"namespaceSelector", JsonObject{}}}}}}}}});
  EXPECT_TRUE(it.allows({"10.0.0.9", "192.168.0.2", "TCP", 80}, false, false));
  EXPECT_FALSE(it.allows({"192.168.0.2", "10.0.0.2", "TCP", 80}, false));
}

TEST(NetworkPolicyCompile, APodWithoutAKnownAddressPassesTheChainsOfAllStartingPods) {
  Small it;
  it.pod("a", "known", "n", {"10.0.0.2"});
  it.pod("b", "server", "n", {"10.0.0.3"});
  it.pod("a", "starting", "n", {});
  const Connection unknown{"10.0.0.7", "10.0.0.3", "TCP", 80};
  EXPECT_TRUE(it.allows(unknown));
  it.policy("a", {{"podSelector", {{"matchLabels", {{"app", "starting"}}}}},
                  {"policyTypes", JsonArray{"Egress"}},
                  {"egress", JsonArray{{{"ports", JsonArray{{{"port", 80}}}}}}}});
  EXPECT_TRUE(it.allows(unknown));
  EXPECT_FALSE(it.allows({"10.0.0.7", "10.0.0.3", "TCP", 81}));
  EXPECT_TRUE(it.allows({"10.0.0.2", "10.0.0.3", "TCP", 81})) << "a known pod";
  EXPECT_TRUE(it.allows({"192.0.2.1", "10.0.0.3", "TCP", 81}, false)) << "not from a pod of this node";
  it.policy("a", deny_all);
  EXPECT_FALSE(it.allows({"192.0.2.1", "10.0.0.7", "TCP", 80}, false)) << "to the starting pod";
}

TEST(NetworkPolicyCompile, PodsOfOtherNodesHaveNoChainsHere) {
  Small it;
  it.pod("a", "one", "n", {"10.0.0.2"});
  it.pod("a", "two", "other", {"10.0.1.2", "fd00::2"});
  it.policy("a", deny_all);
  const Ruleset ruleset = it.compiled();
  EXPECT_EQ(ruleset.ingress.chains.size(), 1u);
  EXPECT_EQ(ruleset.chains.size(), 2u) << "one for each direction";
}

TEST(NetworkPolicyCompile, PodsWithTheSamePoliciesShareAChain) {
  Small it;
  for (int i = 2; i < 100; ++i) it.pod("a", fmt::format("p{}", i).c_str(), "n", {fmt::format("10.0.0.{}", i)});
  it.policy("a", deny_all);
  const Ruleset ruleset = it.compiled();
  EXPECT_EQ(ruleset.ingress.chains.size(), 98u);
  EXPECT_EQ(ruleset.chains.size(), 2u);
}

TEST(NetworkPolicyCompile, AFieldThatCannotBeReadAllowsNothing) {
  Small it;
  it.pod("a", "one", "n", {"10.0.0.2"});
  for (const Json& peer : {Json{{"nodeSelector", JsonObject{}}}, Json{{"ipBlock", {{"cidr", "everything"}}}},
                           Json{{"podSelector", {{"matchExpressions", JsonArray{{{"key", "a"}, {"operator", "Like"}}}}}}}}) {
    it.world.policies.clear();
    it.policy("a", {{"podSelector", JsonObject{}},
                    {"policyTypes", JsonArray{"Ingress"}},
                    {"ingress", JsonArray{{{"from", JsonArray{peer}}}}}});
    EXPECT_FALSE(it.allows({"10.0.0.9", "10.0.0.2", "TCP", 80}, false)) << emit_json(peer, JsonStyle::compact);
  }
}

// The change of one pod in a large cluster writes a few elements, and no chain.
TEST(NetworkPolicyCompile, ALargeClusterCompilesInSecondsAndAChangeIsSmall) {
  ClusterFacts facts;
  std::mt19937 random(7);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int i = 0; i < 100; ++i) facts.namespaces[fmt::format("ns-{}", i)] = {{"team", fmt::format("{}", i % 10)}};
  for (int i = 0; i < 10'000; ++i) {
    Pod pod;
    pod.space = fmt::format("ns-{}", i % 100);
    pod.name = pod.uid = fmt::format("p{}", i);
    pod.node = i % 41 == 0 ? "n" : "other";
    pod.labels = {{"app", fmt::format("{}", below(50))}, {"pod", fmt::format("{}", i)}};
    pod.addresses = {net::parse_ip(fmt::format("10.{}.{}.{}", 128 + i / 65536, i / 256 % 256, i % 256)).value()};
    facts.pods.push_back(std::make_shared<Pod>(std::move(pod)));
  }
  for (int i = 0; i < 1'000; ++i) {
    const Json peers = JsonArray{{{"namespaceSelector", {{"matchLabels", {{"team", fmt::format("{}", below(10))}}}}},
                                  {"podSelector", {{"matchLabels", {{"app", fmt::format("{}", below(50))}}}}}},
                                 {{"ipBlock", {{"cidr", fmt::format("172.{}.0.0/16", below(200))}}}}};
    const Json ports = JsonArray{{{"port", 80 + below(100)}}, {{"port", 8000}, {"endPort", 8100}}};
    const Json policy = {{"metadata", {{"name", fmt::format("p{}", i)}, {"namespace", fmt::format("ns-{}", i % 100)}}},
                         {"spec",
                          {{"podSelector", {{"matchExpressions", JsonArray{{{"key", "app"}, {"operator", "Exists"}}}}}},
                           {"policyTypes", JsonArray{"Ingress"}},
                           {"ingress", JsonArray{{{"from", peers}, {"ports", ports}}}}}}};
    facts.policies.push_back(std::make_shared<Policy>(read_policy(policy)));
  }
  const auto started = std::chrono::steady_clock::now();
  const Ruleset before = compile(facts, "n");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  const std::string whole = whole_table(before, "cni0");
  std::printf("compiled in %.2f s: %zu chains, %zu sets, %zu isolated addresses, %zu kB of text\n", took.count(),
              before.chains.size(), before.sets.size(), before.ingress.chains.size(), whole.size() / 1000);
  EXPECT_EQ(before.ingress.chains.size(), 244u);
  EXPECT_LT(took.count(), 10.0);

  const Pod& old = *facts.pods[5];
  auto moved = std::make_shared<Pod>(old);
  moved->addresses = {net::parse_ip("10.200.0.1").value()};
  facts.pods[5] = moved;
  const Transactions change = differences(before, compile(facts, "n"));
  EXPECT_EQ(change.cleanup, "");
  EXPECT_EQ(change.change.find("chain"), std::string::npos);
  EXPECT_LT(change.change.size(), whole.size() / 50);
  EXPECT_EQ(differences(before, before).change, "");
}

}  // namespace
}  // namespace slipway::components::network
