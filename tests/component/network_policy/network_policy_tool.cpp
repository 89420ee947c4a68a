// network_policy_tool sample SEED: a random cluster of two nodes as JSON: the rules of each node, its pods, connections and
// whether
//   the API allows them.
// network_policy_tool compile NODE BRIDGE: the rules of a node for the objects on standard input, a JSON object
//   {"policies": [], "pods": [], "namespaces": []}, with the seconds that they took, as JSON.
#include "base/number.h"
#include "components/network/policy/compile.h"
#include "support/network_policy_world.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>

namespace {

using namespace slipway;
using namespace slipway::components::network;

ClusterFacts facts_of(const JsonArray& policies, const JsonArray& pods, const JsonArray& namespaces) {
  ClusterFacts facts;
  for (const Json& each : namespaces) facts.namespaces[read_namespace(each).name] = read_namespace(each).labels;
  for (const Json& each : pods) facts.pods.push_back(std::make_shared<Pod>(read_pod(each)));
  for (const Json& each : policies) facts.policies.push_back(std::make_shared<Policy>(read_policy(each)));
  return facts;
}

JsonArray list_of(const std::vector<Json>& objects) { return JsonArray(objects.begin(), objects.end()); }

Json sample(unsigned seed) {
  testing_support::PolicyWorldGenerator generator(seed);
  const testing_support::PolicyWorld world = generator.world(7, 4, false);
  const ClusterFacts facts = facts_of(list_of(world.policies), list_of(world.pods), list_of(world.namespaces));
  JsonObject rules;
  for (const char* node : {"node-0", "node-1"}) rules[node] = whole_table(compile(facts, node), "cni0");
  JsonArray pods, connections;
  for (const auto& pod : facts.pods) {
    JsonArray addresses;
    for (const net::IpAddress& address : pod->addresses) addresses.push_back(Json(net::to_string(address)));
    pods.push_back(JsonObject{{"name", pod->name}, {"node", pod->node}, {"addresses", addresses}});
  }
  for (int i = 0; i < 120; ++i) {
    const testing_support::Connection it = generator.connection(world);
    connections.push_back(JsonObject{{"source", it.source},
                                     {"destination", it.destination},
                                     {"protocol", it.protocol},
                                     {"port", it.port},
                                     {"allowed", testing_support::policy_evaluator::is_allowed(world, it)}});
  }
  return JsonObject{{"rules", rules}, {"pods", pods}, {"connections", connections}, {"policies", list_of(world.policies)}};
}

Result<Json> compile_input(const std::string& node, const std::string& bridge) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const Json input = TRY(parse_json(text, "standard input"));
  const ClusterFacts facts =
      facts_of(find_array(input, {"policies"}), find_array(input, {"pods"}), find_array(input, {"namespaces"}));
  const auto started = std::chrono::steady_clock::now();
  const Ruleset ruleset = compile(facts, node);
  const std::string rules = whole_table(ruleset, bridge);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  return Json{{"rules", rules},
              {"seconds", took.count()},
              {"chains", ruleset.chains.size()},
              {"sets", ruleset.sets.size()},
              {"isolated", ruleset.ingress.chains.size()}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  Result<Json> made = error(Code::invalid, "usage: network_policy_tool sample SEED | compile NODE BRIDGE");
  if (command == "sample" && argc == 3) made = sample(parse_number<unsigned>(argv[2]).value_or(0));
  if (command == "compile" && argc == 4) made = compile_input(argv[2], argv[3]);
  if (!made.ok()) {
    fmt::print(stderr, "{}\n", made.error().message());
    return 1;
  }
  fmt::print("{}", emit_json(made.value(), JsonStyle::compact));
  return 0;
}
