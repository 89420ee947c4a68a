#include "components/controller/conditions.h"

#include "kube/client.h"
#include "kube/conditions.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

constexpr WallTime noon{Milliseconds(1'795'262'400'500)};
constexpr WallTime later = noon + Seconds(60);

Json settings() {
  return {{"apiVersion", "operator.openshift.io/v1"},
          {"kind", "Etcd"},
          {"metadata", {{"name", "cluster"}}},
          {"spec", {{"managementState", "Managed"}}},
          {"status", {{"latestAvailableRevision", 3}}}};
}

Json cluster_operator() {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterOperator"},
          {"metadata", {{"name", "etcd"}, {"resourceVersion", "7"}}},
          {"spec", JsonObject()},
          {"status", {{"versions", {{{"name", "etcd"}, {"version", "1.0.0"}}}}, {"extension", nullptr}}}};
}

const Json* condition(const Json& object, std::string_view type) {
  for (const Json& each : find_array(object, {"status", "conditions"})) {
    if (find_string(each, {"type"}) == type) return &each;
  }
  return nullptr;
}

// "True Reason message" of a condition.
std::string text_of(const Json& object, std::string_view type) {
  const Json* found = condition(object, type);
  if (!found) return "none";
  std::string text;
  for (const char* key : {"status", "reason", "message"}) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", find_string(*found, {key}).value_or("-"));
  }
  return text;
}

Plan plan_for(const Json& operator_object, WallTime now, const Json& known = cluster_operator()) {
  View view;
  view.put(known);
  const ClusterOperatorFacts facts{.name = "etcd",
                                   .versions = {{"operator", "1.1.0"}},
                                   .related = {{{"group", ""}, {"resource", "namespaces"}, {"name", "openshift-etcd"}}}};
  return plan_cluster_operator(view.snapshot(), facts, operator_object, now);
}

// The ClusterOperator after the plan.
Json reported(const Json& operator_object, WallTime now, const Json& known = cluster_operator()) {
  const Plan plan = plan_for(operator_object, now, known);
  return plan.desired_objects.empty() ? known : plan.desired_objects.front().object;
}

TEST(Conditions, ChangeTheirTimeWithTheirStatusOnly) {
  const Json first = with_conditions(settings(), {{"StaticPodsAvailable", false, "ZeroNodes", "0 of 3 nodes"}}, noon);
  EXPECT_EQ(text_of(first, "StaticPodsAvailable"), "False ZeroNodes 0 of 3 nodes");
  EXPECT_EQ(find_string(*condition(first, "StaticPodsAvailable"), {"lastTransitionTime"}), "2026-11-21T12:00:00Z");
  EXPECT_EQ(find(first, {"status", "latestAvailableRevision"})->as_int64(), 3);

  const Json second = with_conditions(first, {{"StaticPodsAvailable", false, "ZeroNodes", "still 0"}}, later);
  EXPECT_EQ(text_of(second, "StaticPodsAvailable"), "False ZeroNodes still 0");
  EXPECT_EQ(find_string(*condition(second, "StaticPodsAvailable"), {"lastTransitionTime"}), "2026-11-21T12:00:00Z");

  const Json third = with_conditions(second, {{"StaticPodsAvailable", true}}, later);
  EXPECT_EQ(find_string(*condition(third, "StaticPodsAvailable"), {"lastTransitionTime"}), "2026-11-21T12:01:00Z");
  EXPECT_EQ(with_conditions(third, {{"StaticPodsAvailable", true}}, later + Seconds(60)), third);
}

TEST(Conditions, LeaveThoseOfOthers) {
  const Json others = with_conditions(settings(), {{"A", true}, {"B", true}}, noon);
  const Json both = with_conditions(others, {{"C", true}, {"A", false, "Bad", "x"}}, later);
  EXPECT_EQ(find_array(both, {"status", "conditions"}).size(), 3u);
  EXPECT_EQ(text_of(both, "B"), "True AsExpected ");
  EXPECT_EQ(text_of(both, "A"), "False Bad x");
}

TEST(Conditions, AreMadeWhereThereIsNoStatusYet) {
  Json fresh = settings();
  fresh.as_object().erase("status");
  EXPECT_EQ(text_of(with_conditions(fresh, {{"A", true}}, noon), "A"), "True AsExpected ");
}

TEST(ClusterOperator, IsNotMade) {
  View view;
  EXPECT_TRUE(plan_cluster_operator(view.snapshot(), {.name = "etcd", .versions = {}, .related = {}}, settings(), noon)
                  .desired_objects.empty());
}

TEST(ClusterOperator, IsUnknownWithoutConditions) {
  const Json object = reported(settings(), noon);
  EXPECT_EQ(text_of(object, "Degraded"), "Unknown NoData ");
  EXPECT_EQ(text_of(object, "Progressing"), "Unknown NoData ");
  EXPECT_EQ(text_of(object, "Available"), "Unknown NoData ");
  EXPECT_EQ(kube::find_condition(object, "Upgradeable"), nullptr) << "nothing says whether it is";
}

TEST(ClusterOperator, SumsUpWhatIsGood) {
  const Json object = reported(with_conditions(settings(),
                                               {{"StaticPodsAvailable", true, "AsExpected", "3 nodes at revision 3"},
                                                {"MembersAvailable", true, "AsExpected", "3 members"},
                                                {"StaticPodsDegraded", false},
                                                {"NodeInstallerProgressing", false, "AllNodesAtLatestRevision", "3 nodes"},
                                                {"RunningInCluster", true}},
                                               noon),
                               noon);
  EXPECT_EQ(text_of(object, "Available"),
            "True AsExpected StaticPodsAvailable: 3 nodes at revision 3\nMembersAvailable: 3 members");
  EXPECT_EQ(text_of(object, "Degraded"), "False AsExpected ");
  EXPECT_EQ(text_of(object, "Progressing"), "False AsExpected NodeInstallerProgressing: 3 nodes");
}

TEST(ClusterOperator, NamesWhatIsBadAndNothingElse) {
  const Json object = reported(with_conditions(settings(),
                                               {{"StaticPodsAvailable", false, "ZeroNodes", "0 of 3 nodes"},
                                                {"MembersAvailable", false, "NoQuorum", "1 of 3 members"},
                                                {"RingAvailable", true, "AsExpected", "fine"},
                                                {"Progressing", true, "Begun", "x"},
                                                {"Upgradeable", false, "Old", "y"}},
                                               noon),
                               noon);
  EXPECT_EQ(text_of(object, "Available"),
            "False StaticPods_ZeroNodes::Members_NoQuorum StaticPodsAvailable: 0 of 3 nodes\nMembersAvailable: 1 of 3 members");
  EXPECT_EQ(text_of(object, "Progressing"), "True Begun Progressing: x");
  EXPECT_EQ(text_of(object, "Upgradeable"), "False Old Upgradeable: y");
}

TEST(ClusterOperator, ForgetsUpgradeableWithTheLastConditionAboutIt) {
  const Json before = reported(with_conditions(settings(), {{"PoolsUpgradeable", true}}, noon), noon);
  EXPECT_EQ(text_of(before, "Upgradeable"), "True AsExpected ");
  View view;
  view.put(before);
  const Plan plan = plan_cluster_operator(view.snapshot(), {.name = "etcd", .versions = {}, .related = {}}, settings(), noon);
  EXPECT_EQ(kube::find_condition(plan.desired_objects.at(0).object, "Upgradeable"), nullptr);
}

TEST(ClusterOperator, NamesSettingsWithoutEffect) {
  View view;
  view.put(reported(settings(), noon));
  const auto plan_with = [&](std::optional<std::vector<std::string>> ignored) {
    Plan plan = plan_cluster_operator(
        view.snapshot(), {.name = "etcd", .versions = {}, .related = {}, .ignored = std::move(ignored)}, settings(), noon);
    if (!plan.desired_objects.empty()) view.put(plan.desired_objects[0].object);
    return plan;
  };
  const auto is_told = [&] {
    return text_of(*view.snapshot().find(kube::types::cluster_operators, "", "etcd"), "SettingsIgnored");
  };
  EXPECT_TRUE(plan_with(std::vector<std::string>()).desired_objects.empty()) << "a condition that was never true is left out";
  const Plan first = plan_with(std::vector<std::string>{"Etcd cluster: spec.logLevel", "Image cluster: spec.a, spec.b"});
  const std::string message =
      "settings without effect in this release: Etcd cluster: spec.logLevel; Image cluster: spec.a, spec.b";
  EXPECT_EQ(is_told(), "True NotSupported " + message);
  ASSERT_EQ(first.notices.size(), 1u);
  EXPECT_TRUE(first.notices[0].is_warning);
  EXPECT_EQ(first.notices[0].reason, "SettingsIgnored");
  EXPECT_EQ(first.notices[0].message, message);
  EXPECT_TRUE(plan_with(std::vector<std::string>{"Etcd cluster: spec.logLevel", "Image cluster: spec.a, spec.b"}).notices.empty())
      << "one Event for one message";
  EXPECT_TRUE(plan_with(std::nullopt).desired_objects.empty());
  EXPECT_TRUE(plan_with(std::vector<std::string>()).notices.empty());
  EXPECT_EQ(is_told(), "False AsExpected ");
}

TEST(ClusterOperator, IsDegradedAfterTwoMinutesOnly) {
  const WallTime since = std::chrono::floor<Seconds>(noon);
  Json object = with_conditions(settings(), {{"OldDegraded", false}, {"YoungDegraded", true, "Error", "young"}}, noon);
  const Plan soon = plan_for(object, noon);
  EXPECT_EQ(text_of(soon.desired_objects.at(0).object, "Degraded"), "False AsExpected ");
  EXPECT_EQ(soon.replan_at, since + Seconds(120));
  EXPECT_EQ(text_of(reported(object, since + Milliseconds(119'999)), "Degraded"), "False AsExpected ");
  const Plan late = plan_for(object, since + Seconds(120));
  EXPECT_EQ(text_of(late.desired_objects.at(0).object, "Degraded"), "True Young_Error YoungDegraded: young");
  EXPECT_EQ(late.replan_at, std::nullopt);

  // An old condition does not make a new one count earlier, and the earliest time is used.
  object = with_conditions(object, {{"OldDegraded", true, "Error", "old"}}, noon - Seconds(300));
  object = with_conditions(object, {{"NewDegraded", true, "Error", "new"}}, noon + Seconds(30));
  const Plan mixed = plan_for(object, noon + Seconds(30));
  EXPECT_EQ(text_of(mixed.desired_objects.at(0).object, "Degraded"), "True Old_Error OldDegraded: old");
  EXPECT_EQ(mixed.replan_at, since + Seconds(120));
}

TEST(ClusterOperator, IsUnknownWhenNobodyLooksAfterIt) {
  Json object = with_conditions(settings(), {{"StaticPodsDegraded", true, "Error", "x"}}, noon - Seconds(300));
  object.at("spec").as_object()["managementState"] = "Unmanaged";
  EXPECT_EQ(text_of(reported(object, noon), "Degraded"), "Unknown Unmanaged spec.managementState is Unmanaged");
  EXPECT_EQ(text_of(reported(object, noon), "Upgradeable"), "Unknown Unmanaged spec.managementState is Unmanaged");
}

TEST(ClusterOperator, KeepsVersionsThatAreNotToldYet) {
  const Json object = reported(settings(), noon);
  EXPECT_EQ(emit_json(*find(object, {"status", "versions"}), JsonStyle::compact),
            R"([{"name":"etcd","version":"1.0.0"},{"name":"operator","version":"1.1.0"}])");
  EXPECT_EQ(find_array(object, {"status", "relatedObjects"}).size(), 1u);
  EXPECT_NE(find(object, {"status", "extension"}), nullptr) << "what others keep there stays";
  EXPECT_EQ(find_string(object, {"metadata", "resourceVersion"}), "7") << "a newer one is not overwritten";
}

TEST(ClusterOperator, IsNotWrittenAgainWhenNothingChanged) {
  const Json first = reported(settings(), noon);
  EXPECT_TRUE(plan_for(settings(), later, first).desired_objects.empty());
  const Json good = with_conditions(settings(), {{"StaticPodsAvailable", true}}, later);
  const Json second = reported(good, later, first);
  EXPECT_EQ(find_string(*condition(second, "Available"), {"lastTransitionTime"}), "2026-11-21T12:01:00Z");
  EXPECT_EQ(find_string(*condition(second, "Degraded"), {"lastTransitionTime"}), "2026-11-21T12:00:00Z");
}

}  // namespace
}  // namespace slipway::components
