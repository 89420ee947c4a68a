#include "components/network/policy/policy.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

Policy read(std::string_view spec) {
  const Json object = {{"metadata", {{"name", "p"}, {"namespace", "a"}}}, {"spec", parse_json(spec, "spec").value()}};
  return read_policy(object);
}

TEST(NetworkPolicyReading, TypesAreThoseOfTheRulesIfNoneAreNamed) {
  const Policy ingress = read(R"({"podSelector": {}})");
  EXPECT_TRUE(ingress.isolates_ingress);
  EXPECT_FALSE(ingress.isolates_egress);
  EXPECT_TRUE(read(R"({"podSelector": {}, "egress": [{}]})").isolates_egress);
  EXPECT_FALSE(read(R"({"podSelector": {}, "policyTypes": ["Egress"]})").isolates_ingress);
}

TEST(NetworkPolicyReading, EmptyListsMeanAll) {
  const Policy policy = read(R"({"podSelector": {}, "ingress": [{}, {"from": [], "ports": []}]})");
  for (const PolicyRule& rule : policy.ingress) EXPECT_TRUE(rule.has_all_peers && rule.has_all_ports);
}

TEST(NetworkPolicyReading, SelectorsMatchAsTheApiSays) {
  const Labels labels = {{"app", "web"}, {"tier", "1"}};
  const struct {
    const char* selector;
    bool matches;
  } rows[] = {
      {R"({})", true},
      {R"({"matchLabels": {"app": "web"}})", true},
      {R"({"matchLabels": {"app": "db"}})", false},
      {R"({"matchLabels": {"app": "web", "zone": ""}})", false},
      {R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "web"]}]})", true},
      {R"({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["x"]}]})", true},
      {R"({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x", "web"]}]})", false},
      {R"({"matchExpressions": [{"key": "tier", "operator": "Exists"}]})", true},
      {R"({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]})", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(read(fmt::format(R"({{"podSelector": {}}})", row.selector)).pods.matches(labels), row.matches) << row.selector;
  }
}

TEST(NetworkPolicyReading, WhatCannotBeEnforcedIsNamed) {
  const struct {
    const char* spec;
    const char* problem;
  } rows[] = {
      {R"({"podSelector": {}, "priority": 3})", "spec.priority: this release does not enforce this field"},
      {R"({"podSelector": {}, "ingress": [{"from": [{"nodeSelector": {}}]}]})",
       "spec.ingress[0].from[0].nodeSelector: this release does not enforce this field"},
      {R"({"podSelector": {}, "ingress": [{"ports": [{"port": 80}, {"protocol": "ICMP"}]}]})",
       "spec.ingress[0].ports[1].protocol: \"ICMP\" is not one of TCP, UDP, SCTP"},
      {R"({"podSelector": {}, "ingress": [{"ports": [{"port": "http", "endPort": 90}]}]})",
       "spec.ingress[0].ports[0].endPort: cannot be combined with the name of a port"},
      {R"({"podSelector": {}, "ingress": [{"ports": [{"port": 80, "endPort": 79}]}]})",
       "spec.ingress[0].ports[0]: 80-79 is no range of ports between 1 and 65535"},
      {R"({"podSelector": {}, "policyTypes": ["Ingress"], "egress": [{}]})",
       "spec.egress: has no effect, because spec.policyTypes does not contain Egress"},
      {R"({"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": "http"}]}]})",
       "spec.egress[0].ports: the name \"http\" means ports of pods; it allows no other address of an ipBlock"},
      {R"({"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]})",
       "spec.ingress[0].from[0]: ipBlock cannot be combined with podSelector or namespaceSelector"},
  };
  for (const auto& row : rows) {
    const Policy policy = read(row.spec);
    ASSERT_EQ(policy.problems.size(), 1u) << row.spec;
    EXPECT_EQ(policy.problems.front(), row.problem);
  }
}

TEST(NetworkPolicyReading, AnUnreadablePodSelectorSelectsAllPods) {
  const Policy policy = read(R"({"podSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}})");
  EXPECT_TRUE(policy.pods.matches({}));
  EXPECT_EQ(policy.problems.size(), 1u);
}

TEST(NetworkPolicyFacts, PortsOfSidecarsCountAndThoseOfInitContainersDoNot) {
  const Json object = parse_json(R"({"metadata": {"name": "p", "namespace": "a", "labels": {"b": "2", "a": "1"}},
    "spec": {"containers": [{"ports": [{"name": "http", "containerPort": 80}, {"containerPort": 81}]}],
             "initContainers": [{"restartPolicy": "Always", "ports": [{"name": "metrics", "containerPort": 9, "protocol": "UDP"}]},
                                {"ports": [{"name": "gone", "containerPort": 1}]}]},
    "status": {"phase": "Running", "podIPs": [{"ip": "fd00::2"}, {"ip": "10.0.0.2"}]}})",
                                 "pod")
                          .value();
  const Pod pod = read_pod(object);
  EXPECT_EQ(pod.labels, (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(pod.addresses.size(), 2u);
  EXPECT_EQ(pod.ports, (std::vector<NamedPort>{{"http", Protocol::tcp, 80}, {"metrics", Protocol::udp, 9}}));
}

}  // namespace
}  // namespace slipway::components::network
