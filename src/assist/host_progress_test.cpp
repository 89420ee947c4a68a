#include "assist/host_progress.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

constexpr Placement all[] = {Placement::bootstrap, Placement::master, Placement::worker, Placement::single_node};

TEST(HostProgress, EveryPlacementBeginsAndEndsAlike) {
  for (const Placement placement : all) {
    EXPECT_EQ(stages_of(placement).front(), Stage::starting_installation);
    EXPECT_EQ(stages_of(placement).back(), Stage::done);
    EXPECT_EQ(percent_of(placement, Stage::done), 100);
    int before = 0;
    for (const Stage stage : stages_of(placement)) {
      EXPECT_GT(percent_of(placement, stage), before) << to_string(stage);
      before = percent_of(placement, stage);
      EXPECT_GE(limit_of(placement, stage), std::chrono::minutes(30));
    }
  }
  EXPECT_EQ(percent_of(Placement::master, Stage::waiting_for_bootkube), 0);
}

TEST(HostProgress, GoesForwardOnly) {
  for (const Placement placement : all) {
    const std::span<const Stage> stages = stages_of(placement);
    for (std::size_t from = 0; from < stages.size(); ++from) {
      for (std::size_t to = 0; to < stages.size(); ++to) {
        EXPECT_EQ(check_progress(placement, stages[from], stages[to]).ok(), to >= from);
      }
      EXPECT_TRUE(check_progress(placement, stages[from], Stage::failed).ok());
    }
  }
  EXPECT_TRUE(check_progress(Placement::worker, std::nullopt, Stage::rebooting).ok());
}

TEST(HostProgress, RefusalsNameTheStageOfTheHost) {
  EXPECT_EQ(check_progress(Placement::master, Stage::rebooting, Stage::waiting_for_bootkube).error().message(),
            "stage 'Waiting for bootkube' is not one of this host, which is in stage 'Rebooting'");
  EXPECT_EQ(check_progress(Placement::master, Stage::rebooting, Stage::installing).error().message(),
            "stage 'Installing' is earlier than that of the host, 'Rebooting'");
  EXPECT_EQ(check_progress(Placement::master, std::nullopt, Stage::waiting_for_ignition).error().code(), Code::conflict);
}

}  // namespace
}  // namespace slipway::assist
