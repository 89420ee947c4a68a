#include "release/update_graph.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

std::string image(char digit) { return "r.example/release@sha256:" + std::string(64, digit); }

std::vector<GraphRelease> four() {
  return {{.version = "0.2.0", .image = image('3')},
          {.version = "0.1.0", .image = image('1')},
          {.version = "0.1.1", .image = image('2')},
          {.version = "0.3.0", .image = image('4'), .previous = {"0.1.1"}}};
}

YamlDocument yaml(const std::string& text) { return parse_yaml(text, "rules.yaml").value(); }

std::string edges_of(const Json& graph) { return emit_json(graph.at("edges"), JsonStyle::compact); }

TEST(MakeUpdateGraph, EdgesComeFromTheVersionsTheReleasesAndTheRules) {
  struct Case {
    const char* what;
    std::optional<std::string> rules;
    const char* edges;
  };
  const std::string risks = "risks: [{name: SlowDisks, message: m, url: 'https://x.example', matchingRules: [{type: Always}]}]";
  const std::vector<Case> cases = {
      {"without rules", std::nullopt, "[[0,1],[0,2],[1,2],[1,3]]"},
      {"rules", "edges: [{from: 0.1.0, to: 0.1.1}]", "[[0,1]]"},
      {"no edges", "edges: []", "[]"},
      {"a risk", "conditionalEdges: [{edges: [{from: 0.1.0, to: 0.2.0}], " + risks + "}]", "[[0,1],[1,2],[1,3]]"},
  };
  for (const Case& c : cases) {
    const Result<Json> graph = make_update_graph(four(), {}, c.rules ? std::optional(yaml(*c.rules)) : std::nullopt);
    ASSERT_TRUE(graph.ok()) << c.what << ": " << graph.error().message();
    EXPECT_EQ(edges_of(graph.value()), c.edges) << c.what;
    EXPECT_EQ(text_of(find_array(graph.value(), {"nodes"}).at(0), {"version"}), "0.1.0") << c.what;
  }
}

TEST(MakeUpdateGraph, AllReleasesAreInTheChannels) {
  const Result<Json> graph = make_update_graph(four(), {"stable-0", "fast-0"}, std::nullopt);
  ASSERT_TRUE(graph.ok());
  for (const Json& node : find_array(graph.value(), {"nodes"}))
    EXPECT_EQ(text_of(node, {"metadata", "io.openshift.upgrades.graph.release.channels"}), "stable-0,fast-0");
}

TEST(MakeUpdateGraph, AllProblemsAreNamedWithTheirPlaces) {
  const Result<Json> unknown =
      make_update_graph(four(), {}, yaml("edge: []\nedges:\n- {from: 0.1.0, to: 0.9.0}\n- {from: 0.0.1, to: 0.1.0}\n"));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(),
            "rules.yaml:1:1: error: edge: unknown field (fields: edges, conditionalEdges)\n"
            "rules.yaml:3:17: error: edges[0].to: no release has version '0.9.0'\n"
            "rules.yaml:4:4: error: edges[1].from: no release has version '0.0.1'");
  const Result<Json> risk = make_update_graph(four(), {},
                                              yaml("conditionalEdges:\n- edges: [{from: 0.1.0, to: 0.1.1}]\n  risks:\n"
                                                   "  - {name: not-a-reason, message: m, url: 'https://x.example'}\n"));
  ASSERT_FALSE(risk.ok());
  EXPECT_NE(risk.error().message().find("rules.yaml:4:6: error: conditionalEdges[0].risks[0].name: 'not-a-reason'"),
            std::string::npos)
      << risk.error().message();
  EXPECT_NE(risk.error().message().find("matchingRules: must be a list"), std::string::npos) << risk.error().message();
  const Result<Json> twice =
      make_update_graph({{.version = "0.1.0", .image = image('1')}, {.version = "0.1.0", .image = "x/y:1"}}, {}, std::nullopt);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message().find("duplicate version 0.1.0"), std::string::npos);
  EXPECT_NE(twice.error().message().find("x/y:1"), std::string::npos) << twice.error().message();
}

TEST(CheckUpdateGraph, WhatAClusterWouldNotTakeIsFound) {
  const std::string nodes =
      "nodes: [{version: 0.1.0, payload: '" + image('1') + "'}, {version: 0.1.1, payload: '" + image('2') + "'}]";
  struct Case {
    std::string graph;
    const char* problem;  // empty: there is none
  };
  const std::string risk =
      "{name: R, message: m, url: 'https://x.example', matchingRules: [{type: PromQL, promql: {promql: up}}]}";
  const std::vector<Case> cases = {
      {nodes + "\nedges: [[0, 1]]", ""},
      {nodes, "edges: must be a list"},
      {"edges: []", "nodes: must be a list with at least one release"},
      {nodes + "\nedges: [[0, 2]]", "edges[0]: must be two indexes of nodes, below 2"},
      {nodes + "\nedges: [[1, 0]]", "edges[0]: 0.1.1 is not older than 0.1.0"},
      {nodes + "\nedges: [[0, 1], [0, 1]]", "edges[1]: duplicate edge"},
      {nodes + "\nedges: []\nconditionalEdges: [{edges: [{from: 0.1.0, to: 0.1.1}], risks: [" + risk + "]}]", ""},
      {nodes + "\nedges: []\nconditionalEdges: [{edges: [{from: 0.1.0, to: 0.1.1}], risks: [" + risk +
           "]}, {edges: [{from: 0.1.0, to: 0.1.1}], risks: [" + risk + "]}]",
       "has risks in two groups"},
      {nodes + "\nedges: []\nconditionalEdges: [{edges: [{from: 0.1.0, to: 0.1.7}], risks: [" + risk + "]}]",
       "no node has version '0.1.7'"},
      {nodes + "\nedges: []\nconditionalEdges: [{edges: [{from: 0.1.0, to: 0.1.1}], risks: [{name: R, message: m, url: "
               "'https://x.example', matchingRules: [{type: Sometimes}]}]}]",
       "'Sometimes' is not Always or PromQL"},
  };
  for (const Case& c : cases) {
    const std::string found = check_update_graph(yaml(c.graph), {}).to_text();
    if (std::string_view(c.problem).empty()) {
      EXPECT_EQ(found, "") << c.graph;
    } else {
      EXPECT_NE(found.find(c.problem), std::string::npos) << found;
    }
  }
}

TEST(CheckUpdateGraph, ReleasesAreComparedByDigest) {
  const YamlDocument graph =
      yaml("nodes: [{version: 0.1.0, payload: 'mirror.example/r@sha256:" + std::string(64, '1') + "'}]\nedges: []");
  EXPECT_TRUE(check_update_graph(graph, {{.version = "0.1.0", .image = image('1')}}).empty());
  EXPECT_NE(check_update_graph(graph, {{.version = "0.1.0", .image = image('2')}}).to_text().find("but the release has"),
            std::string::npos);
  EXPECT_NE(check_update_graph(graph, {{.version = "0.1.1", .image = image('1')}}).to_text().find("no node has version 0.1.1"),
            std::string::npos);
}

}  // namespace
}  // namespace slipway::release
