#include "components/static_pod/target_inputs.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

const ObjectName from{"managed", "ca"}, to{"target", "trusted"};

TEST(TargetInputs, CopiesDataAndType) {
  View view;
  view.put(secret({"managed", "ca"}, "kubernetes.io/tls", {{"tls.crt", "one"}}, {{"note", "stays there"}}));
  Target target;
  copy_object(Part::Kind::secret, from, to, "somebody", view.snapshot(), target);
  ASSERT_EQ(target.plan.desired_objects.size(), 1u);
  EXPECT_EQ(target.plan.desired_objects[0].object, secret(to, "kubernetes.io/tls", {{"tls.crt", "one"}}));
  EXPECT_TRUE(target.missing.empty());
}

TEST(TargetInputs, MissesWhatSomebodyHasToMake) {
  Target target;
  const View view;
  copy_object(Part::Kind::config_map, from, to, "", view.snapshot(), target);
  EXPECT_TRUE(target.missing.empty());
  for (int i = 0; i < 2; ++i) copy_object(Part::Kind::config_map, from, to, "somebody", view.snapshot(), target);
  EXPECT_TRUE(target.plan.desired_objects.empty());
  EXPECT_EQ(target.missing, std::vector<std::string>{"ConfigMap managed/ca, which somebody creates"});
}

TEST(TargetInputs, FindsFactsOfTheInfrastructure) {
  View view;
  Target none, empty, fine;
  EXPECT_EQ(infrastructure_text("infrastructureName", view.snapshot(), none), "");
  EXPECT_EQ(none.missing, std::vector<std::string>{"Infrastructure cluster, which the installer creates"});
  view.put({{"apiVersion", "config.openshift.io/v1"},
            {"kind", "Infrastructure"},
            {"metadata", {{"name", "cluster"}}},
            {"status", {{"infrastructureName", "demo"}}}});
  EXPECT_EQ(infrastructure_text("infrastructureName", view.snapshot(), fine), "demo");
  EXPECT_TRUE(fine.missing.empty());
  EXPECT_EQ(infrastructure_text("apiServerInternalURI", view.snapshot(), empty), "");
  EXPECT_EQ(empty.missing, std::vector<std::string>{"Infrastructure cluster: status.apiServerInternalURI"});
}

TEST(TargetInputs, FindsTheGatesOfAVersion) {
  View view;
  const Json gates{{"version", "0.1.0"}, {"enabled", Json(JsonArray{Json{{"name", "A"}}})}, {"disabled", JsonArray()}};
  view.put({{"apiVersion", "config.openshift.io/v1"},
            {"kind", "FeatureGate"},
            {"metadata", {{"name", "cluster"}}},
            {"status", {{"featureGates", Json(JsonArray{gates})}}}});
  Target fine, other;
  EXPECT_EQ(find_gates("0.1.0", view.snapshot(), fine), (FeatureGates{{"A"}, {}}));
  EXPECT_TRUE(fine.missing.empty());
  EXPECT_EQ(find_gates("0.2.0", view.snapshot(), other), std::nullopt);
  EXPECT_EQ(other.missing.size(), 1u);
}

TEST(TargetInputs, PutsAdministratorsSettingsOverOthers) {
  const Json made{{"a", 1}, {"b", 1}, {"c", 1}};
  const Json settings{{"spec", {{"observedConfig", {{"b", 2}, {"c", 2}}}, {"unsupportedConfigOverrides", {{"c", 3}}}}}};
  EXPECT_EQ(with_overrides(made, settings), (Json{{"a", 1}, {"b", 2}, {"c", 3}}));
  EXPECT_EQ(with_overrides(made, JsonObject()), made);
}

}  // namespace
}  // namespace slipway::components
