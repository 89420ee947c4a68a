#include "components/kube_controller_manager/policy_controller.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::components::kube_controller_manager {
namespace {

Json space(std::string_view name, JsonObject annotations = {}, bool going = false) {
  JsonObject metadata{{"name", name}, {"resourceVersion", "5"}, {"annotations", std::move(annotations)}};
  if (going) metadata["deletionTimestamp"] = "2026-11-21T00:00:00Z";
  return JsonObject{{"metadata", std::move(metadata)}};
}

std::string annotation_of(const Annotation& annotation, std::string_view key) {
  return std::string(
      find_string(annotation.patch, {"metadata", "annotations", fmt::format("openshift.io/sa.scc.{}", key)}).value_or(""));
}

TEST(Blocks, AreThoseOfOpenShift) {
  EXPECT_EQ(id_range(0), "1000000000/10000");
  EXPECT_EQ(mcs_label(0), "s0:c1,c0");
  EXPECT_EQ(id_range(56), "1000560000/10000");
  EXPECT_EQ(mcs_label(56), "s0:c24,c4");
  EXPECT_EQ(id_range(block_count - 1), "1999990000/10000");
}

TEST(Blocks, HaveDistinctLabels) {
  std::set<std::string> labels;
  for (int i = 0; i < 3000; ++i) EXPECT_TRUE(labels.insert(mcs_label(i)).second) << mcs_label(i);
  const std::string last = mcs_label(block_count - 1);
  EXPECT_LT(std::stoi(last.substr(4)), 1024) << last;
}

TEST(PlanAnnotations, AssignsFreeBlocks) {
  const auto plan = plan_annotations({space("a"),
                                      space("b", {{"openshift.io/sa.scc.uid-range", "1000000000/10000"},
                                                  {"openshift.io/sa.scc.supplemental-groups", "1000000000/10000"},
                                                  {"openshift.io/sa.scc.mcs", "s0:c1,c0"}}),
                                      space("c"), space("going", {}, true)});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->size(), 2u);
  EXPECT_EQ(plan->at(0).name, "a");
  EXPECT_EQ(annotation_of(plan->at(0), "uid-range"), "1000010000/10000");
  EXPECT_EQ(annotation_of(plan->at(0), "supplemental-groups"), "1000010000/10000");
  EXPECT_EQ(annotation_of(plan->at(0), "mcs"), "s0:c3,c2");
  // The patch must not apply after a change by another writer.
  EXPECT_EQ(find_string(plan->at(0).patch, {"metadata", "resourceVersion"}), "5");
  EXPECT_EQ(annotation_of(plan->at(1), "uid-range"), "1000020000/10000");
}

TEST(PlanAnnotations, CompletesAnnotationsAndKeepsForeignRanges) {
  const auto plan = plan_annotations({space("half", {{"openshift.io/sa.scc.uid-range", "1000560000/10000"}}),
                                      space("own", {{"openshift.io/sa.scc.uid-range", "5000/10"}})});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->size(), 1u);
  EXPECT_EQ(annotation_of(plan->at(0), "uid-range"), "");
  EXPECT_EQ(annotation_of(plan->at(0), "mcs"), "s0:c24,c4");
}

}  // namespace
}  // namespace slipway::components::kube_controller_manager
