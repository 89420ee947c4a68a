#include "components/cluster_bootstrap/owned_files.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_bootstrap {
namespace {

TEST(OwnedFiles, AreWrittenWhereNobodysFileIs) {
  const auto plan = plan_files({{"/a", "1"}, {"/b", "2"}}, {}, {{"/b", "2"}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->write, (std::vector<FileContent>{{"/a", "1"}}));
  EXPECT_TRUE(is_owned(plan->owned, "/a", "1"));
  EXPECT_TRUE(is_owned(plan->owned, "/b", "2"));
  EXPECT_FALSE(is_owned(plan->owned, "/a", "2"));
}

TEST(OwnedFiles, AreReplacedWhenTheyAreOurs) {
  const OwnedFiles owned = plan_files({{"/a", "old"}}, {}, {})->owned;
  const auto plan = plan_files({{"/a", "new"}}, owned, {{"/a", "old"}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->write.size(), 1u);
  // Killed between recording and writing: both contents are owned.
  EXPECT_TRUE(is_owned(plan->owned, "/a", "old"));
  EXPECT_TRUE(is_owned(plan->owned, "/a", "new"));
}

TEST(OwnedFiles, LeaveThoseOfOthersAlone) {
  const OwnedFiles owned = plan_files({{"/a", "old"}}, {}, {})->owned;
  const auto plan = plan_files({{"/a", "new"}, {"/b", "x"}, {"/c", "y"}}, owned, {{"/a", "changed"}, {"/c", "z"}});
  EXPECT_EQ(plan.error().code(), Code::conflict);
  EXPECT_EQ(plan.error().message(),
            "/a, /c: already exists and was not written by cluster-bootstrap (move it away, then start again)");
}

TEST(OwnedFiles, AreRemembered) {
  const OwnedFiles owned = plan_files({{"/a", "1"}, {"/b", "2"}}, {}, {})->owned;
  EXPECT_EQ(parse_owned(emit_owned(owned), "owned").value(), owned);
  EXPECT_FALSE(parse_owned(R"({"files": {"/a": 1}})", "owned").ok());
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
