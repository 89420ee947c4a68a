#include "components/network/policy/report.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

Json policy(const char* name, Json spec) {
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "NetworkPolicy"},
          {"metadata", {{"name", name}, {"namespace", "a"}}},
          {"spec", std::move(spec)}};
}

Json host_pod(const char* name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "a"}, {"labels", {{"app", "agent"}}}}},
          {"spec", {{"hostNetwork", true}}},
          {"status", {{"phase", "Running"}}}};
}

TEST(NetworkPolicyReport, SaysNothingOfPoliciesThatAreEnforced) {
  View view;
  view.put(policy("deny", {{"podSelector", {{"matchLabels", {{"app", "web"}}}}}}));
  view.put(host_pod("one"));
  const PolicyReport report = report_policies(view.snapshot());
  EXPECT_TRUE(report.notices.empty());
  EXPECT_TRUE(report.condition.is_true);
}

TEST(NetworkPolicyReport, NamesFieldsAndPodsThatAreNotEnforced) {
  View view;
  view.put(policy("deny", {{"podSelector", JsonObject{}}, {"priority", 3}}));
  for (const char* name : {"one", "two", "three", "four"}) view.put(host_pod(name));
  const PolicyReport report = report_policies(view.snapshot());
  ASSERT_EQ(report.notices.size(), 2u);
  EXPECT_EQ(report.notices[0].message, "not enforced: spec.priority: this release does not enforce this field");
  EXPECT_EQ(report.notices[1].message,
            "not enforced for pods in the network of their host (hostNetwork: true): four, one, three and 1 more");
  EXPECT_FALSE(report.condition.is_true);
  EXPECT_EQ(report.condition.message,
            "a/deny: spec.priority: this release does not enforce this field; "
            "a/deny: pods in the network of their host: four, one, three and 1 more");
}

}  // namespace
}  // namespace slipway::components::network
