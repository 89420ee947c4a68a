#include "components/config_operator/feature_gates.h"

#include <gtest/gtest.h>

namespace slipway::components::config_operator {
namespace {

constexpr std::string_view profile = "self-managed-high-availability";

Json list_of(std::string_view set, std::string_view majors, JsonArray enabled, JsonArray disabled) {
  return {{"kind", "FeatureGate"},
          {"metadata",
           {{"annotations",
             {{"include.release.openshift.io/self-managed-high-availability", "false-except-for-the-config-operator"},
              {"release.openshift.io/feature-set", set},
              {"release.openshift.io/major-version", majors}}}}},
          {"status", {{"featureGates", JsonArray{{{"enabled", enabled}, {"disabled", disabled}}}}}}};
}

std::vector<Json> lists() {
  return {list_of("Default", "4,5", {{{"name", "Zebra"}}, {{"name", "Ant"}}}, {{{"name", "New"}}}),
          list_of("TechPreviewNoUpgrade", "4,5", {{{"name", "Ant"}}, {{"name", "New"}}, {{"name", "Zebra"}}}, {})};
}

Json gate_with(JsonObject spec, JsonObject more = {}) {
  JsonObject metadata{{"name", "cluster"}, {"creationTimestamp", nullptr}};
  JsonObject gate{{"apiVersion", "config.openshift.io/v1"}, {"kind", "FeatureGate"}, {"metadata", metadata}, {"spec", spec}};
  for (const auto& [key, value] : more) gate[key] = value;
  return gate;
}

std::string status_of(const Result<Json>& gate) {
  return gate.ok() ? emit_json(*find(gate.value(), {"status"}), JsonStyle::compact) : gate.error().message();
}

TEST(FeatureGates, AreThoseOfTheFeatureSetSorted) {
  const auto gate = with_gates(gate_with({}), lists(), "4.18.1", profile);
  EXPECT_EQ(status_of(gate),
            R"({"featureGates":[{"version":"4.18.1","enabled":[{"name":"Ant"},{"name":"Zebra"}],"disabled":[{"name":"New"}]}]})");
  EXPECT_EQ(emit_json(*find(gate.value(), {"metadata"}), JsonStyle::compact),
            R"({"name":"cluster","annotations":{"include.release.openshift.io/self-managed-high-availability":"true"}})");
  EXPECT_EQ(find_array(with_gates(gate_with({{"featureSet", "TechPreviewNoUpgrade"}}), lists(), "4.18", profile).value(),
                       {"status", "featureGates"})
                .at(0)
                .at("enabled")
                .as_array()
                .size(),
            3u);
}

TEST(FeatureGates, OfAReleaseWithItsOwnVersionNumbersUseAllLists) {
  EXPECT_NE(status_of(with_gates(gate_with({}), lists(), "0.1.0", profile)).find("Zebra"), std::string::npos);
  auto with_zero = lists();
  with_zero.push_back(list_of("Default", "0", {{{"name", "Zero"}}}, {}));
  EXPECT_EQ(status_of(with_gates(gate_with({}), with_zero, "0.1.0", profile)),
            R"({"featureGates":[{"version":"0.1.0","enabled":[{"name":"Zero"}],"disabled":[]}]})");
}

TEST(FeatureGates, CanBeChangedOneByOne) {
  const JsonObject spec{{"featureSet", "CustomNoUpgrade"},
                        {"customNoUpgrade", {{"enabled", {"New"}}, {"disabled", {"Ant", "Mine"}}}}};
  const auto gate = with_gates(gate_with(spec), lists(), "4.18.1", profile);
  EXPECT_EQ(status_of(gate), R"({"featureGates":[{"version":"4.18.1","enabled":[{"name":"New"},{"name":"Zebra"}],)"
                             R"("disabled":[{"name":"Ant"},{"name":"Mine"}]}]})");
  EXPECT_EQ(find(gate.value(), {"metadata", "annotations"}), nullptr);
  const JsonObject status{{"featureGates", {{{"version", "4.18.1"}, {"enabled", JsonArray()}}}}};
  EXPECT_EQ(status_of(with_gates(gate_with(spec, {{"status", status}}), lists(), "4.18.1", profile)),
            R"({"featureGates":[{"version":"4.18.1","enabled":[]}]})");
}

TEST(FeatureGates, OfAnUnknownSetOrProfileAreAnError) {
  EXPECT_EQ(status_of(with_gates(gate_with({{"featureSet", "Nope"}}), lists(), "4.18", profile)),
            "spec.featureSet: this release has no feature set 'Nope' for cluster profile self-managed-high-availability");
  const JsonObject other{{"name", "cluster"}, {"annotations", {{"include.release.openshift.io/ibm-cloud-managed", "true"}}}};
  EXPECT_EQ(with_gates(gate_with({}, {{"metadata", other}}), lists(), "4.18", profile).error().code(), Code::invalid);
}

TEST(MajorVersion, IsReadTolerantly) {
  for (const char* text : {"4", "4.18", "v4.18.3", "4.18.0-0.nightly-2026-01-01"})
    EXPECT_EQ(major_version(text).value(), 4) << text;
  for (const char* text : {"", "abc", "-1", "4x"}) EXPECT_FALSE(major_version(text).ok()) << text;
}

}  // namespace
}  // namespace slipway::components::config_operator
