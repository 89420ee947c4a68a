#include "components/cluster_version/graph.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

Json yaml(const std::string& text) { return parse_yaml(text, "x").value().value; }

Json cluster_version(const std::string& spec) { return yaml("{spec: {clusterID: id, " + spec + "}}"); }

std::string names(const JsonArray& updates, bool is_conditional = false) {
  std::string text;
  for (const Json& update : updates) {
    text += text_of(is_conditional ? update.at("release") : update, {"version"}) + " ";
    if (is_conditional) text += text_of(find_array(update, {"conditions"}).at(0), {"status"}) + " ";
  }
  return text;
}

const std::string nodes =
    "nodes: [{version: 1.0.0, payload: 'r@sha256:0'}, {version: 1.0.1, payload: 'r@sha256:1', metadata: {url: 'https://x', "
    "io.openshift.upgrades.graph.release.channels: 'stable-1,fast-1'}}, {version: 1.0.10, payload: 'r@sha256:10'}, "
    "{version: 1.1.0, payload: 'r@sha256:11'}]";

std::string graph(const std::string& more) { return emit_json(yaml("{" + nodes + ", " + more + "}"), JsonStyle::compact); }

TEST(UpdateGraph, TheUrlHasWhatTheServiceNeeds) {
  EXPECT_EQ(graph_request(cluster_version("channel: stable-1, upstream: 'https://u.example/graph'"), "1.0.0", "amd64").url,
            "https://u.example/graph?arch=amd64&channel=stable-1&id=id&version=1.0.0");
  EXPECT_EQ(graph_request(cluster_version("channel: a b, upstream: 'https://u.example/graph?x=1'"), "1.0.0", "amd64").url,
            "https://u.example/graph?x=1&arch=amd64&channel=a%20b&id=id&version=1.0.0");
  struct Case {
    const char* spec;
    const char* reason;
  };
  for (const Case& c : {Case{"x: y", "NoChannel"}, Case{"channel: stable-1", "NoUpstream"},
                        Case{"channel: stable-1, upstream: 'no url'", "InvalidURI"}}) {
    const GraphRequest request = graph_request(cluster_version(c.spec), "1.0.0", "amd64");
    EXPECT_EQ(request.url, "") << c.spec;
    EXPECT_EQ(request.reason, c.reason) << c.spec;
  }
}

TEST(UpdateGraph, UpdatesAreSortedAndThoseWithRisksAreApart) {
  struct Case {
    const char* what;
    const char* more;
    const char* available;
    const char* conditional;
  };
  const std::vector<Case> cases = {
      {"edges", "edges: [[0, 1], [0, 2], [1, 2], [0, 3], [0, 1]]", "1.1.0 1.0.10 1.0.1 ", ""},
      {"a certain risk wins over the edge",
       "edges: [[0, 1]], conditionalEdges: [{edges: [{from: 1.0.0, to: 1.0.1}], risks: [{name: R, message: m, url: u, "
       "matchingRules: [{type: "
       "Always}]}]}]",
       "", "1.0.1 False "},
      {"a risk that cannot be evaluated",
       "edges: [], conditionalEdges: [{edges: [{from: 1.0.0, to: 1.1.0}], risks: [{name: R, matchingRules: [{type: New}, {type: "
       "PromQL}]}]}]",
       "", "1.1.0 Unknown "},
      {"a risk of an unknown type",
       "edges: [[0, 3]], conditionalEdges: [{edges: [{from: 1.0.0, to: 1.1.0}], risks: [{name: R, matchingRules: [{type: "
       "New}]}]}]",
       "", ""},
      {"two groups",
       "edges: [], conditionalEdges: [{edges: [{from: 1.0.0, to: 1.1.0}], risks: [{name: R, matchingRules: [{type: Always}]}]}, "
       "{edges: [{from: 1.0.0, to: 1.1.0}], risks: [{name: S, matchingRules: [{type: Always}]}]}]",
       "", ""},
      {"of another version", "edges: [[1, 2]], conditionalEdges: [{edges: [{from: 1.0.1, to: 1.1.0}], risks: []}]", "", ""},
  };
  for (const Case& c : cases) {
    const KnownUpdates known = read_graph(graph(c.more), "1.0.0");
    ASSERT_TRUE(known.is_retrieved) << c.what << ": " << known.message;
    EXPECT_EQ(names(known.available), c.available) << c.what;
    EXPECT_EQ(names(known.conditional, true), c.conditional) << c.what;
  }
  const KnownUpdates known = read_graph(graph("edges: [[0, 1]]"), "1.0.0");
  EXPECT_EQ(known.available.at(0), yaml("{version: 1.0.1, image: 'r@sha256:1', url: 'https://x', channels: [stable-1, fast-1]}"));
}

TEST(UpdateGraph, AllRisksAreReported) {
  struct Case {
    const char* risks;
    const char* status;
    const char* reason;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"{name: A, message: a, url: u, matchingRules: [{type: Always}]}", "False", "A", "a u"},
      {"{name: P, message: p, url: u, matchingRules: [{type: PromQL}]}", "Unknown", "EvaluationFailed",
       "Could not evaluate the exposure to P: p u"},
      {"{name: P, message: p, url: u, matchingRules: [{type: PromQL}]}, {name: A, message: a, url: u, matchingRules: [{type: "
       "Always}]}",
       "False", "MultipleReasons", "a u\n\nCould not evaluate the exposure to P: p u"},
      {"{name: A, message: a, url: u, matchingRules: [{type: Always}]}, {name: B, message: b, url: v, matchingRules: [{type: "
       "Always}]}",
       "False", "MultipleReasons", "a u\n\nb v"},
  };
  for (const Case& c : cases) {
    const KnownUpdates known = read_graph(
        graph(fmt::format("edges: [], conditionalEdges: [{{edges: [{{from: 1.0.0, to: 1.1.0}}], risks: [{}]}}]", c.risks)),
        "1.0.0");
    ASSERT_EQ(known.conditional.size(), 1u) << c.risks;
    const Json condition = find_array(known.conditional.at(0), {"conditions"}).at(0);
    EXPECT_EQ(text_of(condition, {"status"}), c.status) << c.risks;
    EXPECT_EQ(text_of(condition, {"reason"}), c.reason) << c.risks;
    EXPECT_EQ(text_of(condition, {"message"}), c.message) << c.risks;
  }
}

TEST(UpdateGraph, AnswersThatAreNoGraphAreRefused) {
  for (const auto& [answer, reason] :
       std::vector<std::pair<std::string, std::string>>{{"<html>", "ResponseInvalid"},
                                                        {"{}", "VersionNotFound"},
                                                        {graph("edges: [[0, 9]]"), "ResponseInvalid"},
                                                        {graph("edges: [[0]]"), "ResponseInvalid"}}) {
    const KnownUpdates known = read_graph(answer, "1.0.0");
    EXPECT_FALSE(known.is_retrieved) << answer;
    EXPECT_EQ(known.reason, reason) << answer;
  }
}

}  // namespace
}  // namespace slipway::components::cluster_version
