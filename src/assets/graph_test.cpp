#include "assets/graph.h"

#include "assets/assets.h"
#include "assets/graph_dot.h"
#include "assets/state.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::assets {
namespace {

struct Seed {
  int number = 0;
};
struct Root {
  int number = 0;
};
struct Leaf {
  int number = 0;
};

int roots_made = 0;

Result<Root> make_root(const Seed& seed) {
  ++roots_made;
  if (seed.number < 0) return error(Code::invalid, "{} is no seed", seed.number);
  return Root{seed.number * 10};
}
Leaf make_leaf(const Root& root, const Seed& seed) { return {root.number + seed.number}; }
Root root_from_leaf(const Leaf& leaf) { return {leaf.number}; }

Graph small_graph() {
  Graph graph;
  graph.input<Seed>("seed");
  graph.add("root", make_root);
  graph.add("leaf", make_leaf);
  return graph;
}

TEST(Graph, EdgesAreTheParametersOfTheFunctions) {
  const std::vector<std::pair<std::string, std::string>> expected = {{"seed", "root"}, {"root", "leaf"}, {"seed", "leaf"}};
  EXPECT_EQ(small_graph().edges(), expected);
  EXPECT_TRUE(small_graph().check().ok());
}

TEST(Graph, MakesEachAssetOnceAndKeepsIt) {
  Graph graph = small_graph();
  graph.put(Seed{4});
  roots_made = 0;
  EXPECT_EQ(graph.get<Leaf>().value()->number, 44);
  EXPECT_EQ(graph.get<Root>().value()->number, 40);
  EXPECT_EQ(graph.get<Leaf>().value(), graph.get<Leaf>().value());
  EXPECT_EQ(roots_made, 1);
}

TEST(Graph, WhatWasPutIsNotMade) {
  Graph graph = small_graph();
  graph.put(Seed{4});
  graph.put(Root{7});
  roots_made = 0;
  EXPECT_EQ(graph.get<Leaf>().value()->number, 11);
  EXPECT_EQ(roots_made, 0);
}

TEST(Graph, AFailureIsThatOfTheFunction) {
  Graph graph = small_graph();
  graph.put(Seed{-1});
  EXPECT_EQ(graph.get<Leaf>().error().message(), "-1 is no seed");
}

TEST(Graph, AMissingInputIsNamed) {
  Graph graph = small_graph();
  EXPECT_EQ(graph.get<Leaf>().error().message(), "input 'seed' is missing");
}

TEST(Graph, AMissingProducerIsAnError) {
  Graph graph;
  graph.input<Seed>("seed");
  graph.add("leaf", make_leaf);
  const Result<> checked = graph.check();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code(), Code::internal);
  EXPECT_TRUE(checked.error().message().starts_with("asset 'leaf': no function generates asset ")) << checked.error().message();
}

TEST(Graph, ACycleIsAnErrorNotALoop) {
  Graph graph;
  graph.input<Seed>("seed");
  graph.add("root", root_from_leaf);
  graph.add("leaf", make_leaf);
  graph.put(Seed{1});
  EXPECT_EQ(graph.get<Leaf>().error().message(), "asset 'root': asset 'leaf': asset 'root' depends on itself");
}

TEST(Graph, ATargetOfWhatNobodyMakesIsAnError) {
  Graph graph = small_graph();
  graph.target<Leaf, Seed>("create leaf");
  EXPECT_TRUE(graph.check().ok());
  Graph other;
  other.target<Leaf>("create leaf");
  EXPECT_TRUE(other.check().error().message().starts_with("target 'create leaf': no function generates asset "));
}

TEST(Graph, APictureHasSubjectsAndTargets) {
  Graph graph;
  graph.subject("from \"outside\"");
  graph.input<Seed>("seed");
  graph.subject("plants");
  graph.add("root", make_root);
  graph.add("leaf", make_leaf);
  graph.target<Leaf>("create leaf");
  EXPECT_EQ(to_dot(graph), R"(strict digraph "assets" {
  rankdir=LR;
  node [shape=box];
  subgraph "cluster_0" {
    label="from \"outside\"";
    "seed";
  }
  subgraph "cluster_1" {
    label="plants";
    "root";
    "leaf";
  }
  "create leaf" [style=filled];
  "seed" -> "root";
  "root" -> "leaf";
  "seed" -> "leaf";
  "leaf" -> "create leaf";
}
)");
}

TEST(AssetGraph, HasATargetForEachCommand) {
  std::vector<std::string> names;
  for (const Graph::Row& row : asset_graph().rows()) {
    if (row.is_target) names.push_back(row.name);
    EXPECT_EQ(row.subject.empty(), row.is_target) << row.name;
  }
  std::vector<std::string> expected;
  for (const Target target : {Target::install_config, Target::manifests, Target::ignition_configs,
                              Target::single_node_ignition_config, Target::cluster}) {
    expected.push_back(fmt::format("create {}", to_string(target)));
  }
  EXPECT_EQ(names, expected);
}

TEST(AssetGraph, IsCompleteAndWithoutCycles) {
  const Graph graph = asset_graph();
  const Result<> checked = graph.check();
  EXPECT_TRUE(checked.ok()) << checked.error().message();
  const auto edges = graph.edges();
  for (const std::pair<std::string, std::string> edge :
       {std::pair{"install config", "certificates"}, std::pair{"root certificates", "pointer configs"},
        std::pair{"user files", "manifests"}, std::pair{"manifests", "bootstrap config"}}) {
    EXPECT_NE(std::ranges::find(edges, edge), edges.end()) << edge.first << " -> " << edge.second;
  }
}

}  // namespace
}  // namespace slipway::assets
