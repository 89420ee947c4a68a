#include "cluster/steps.h"

#include "assets/manifests/image_mode.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

TEST(Steps, HaveOneRowEachInTheirOrder) {
  for (int i = 0; i <= static_cast<int>(Step::cluster_version); ++i) {
    const StepRow& row = row_of(static_cast<Step>(i));
    EXPECT_FALSE(row.name.empty() || row.description.empty()) << i;
  }
}

TEST(Steps, EndTheProgramAsOpenshiftInstallDoes) {
  const std::pair<Step, ExitStatus> cases[] = {
      {Step::assets, ExitStatus::failure},
      {Step::machines, ExitStatus::infrastructure},
      {Step::kubernetes_api, ExitStatus::bootstrap},
      {Step::control_plane_nodes, ExitStatus::bootstrap},
      {Step::bootstrap_complete, ExitStatus::bootstrap},
      {Step::bootstrap_member, ExitStatus::bootstrap},
      {Step::nodes_ready, ExitStatus::initialisation},
      {Step::api_servers, ExitStatus::initialisation},
      {Step::worker_nodes, ExitStatus::initialisation},
      {Step::cluster_operators, ExitStatus::operators},
      {Step::cluster_version, ExitStatus::initialisation},
  };
  for (const auto& [step, status] : cases) EXPECT_EQ(row_of(step).exit_status, status) << row_of(step).name;
}

TEST(Steps, RememberWhichOneFailed) {
  testing_support::TestContext test;
  const sys::Context context = test.context();
  Steps steps;
  EXPECT_TRUE(steps
                  .run(
                      context, Step::machines, []() -> Result<> { return Ok{}; }, "3 machines are created")
                  .ok());
  EXPECT_FALSE(steps.failed());
  const auto fail = []() -> Result<> { return error(Code::timeout, "late"); };
  EXPECT_FALSE(steps.run(context, Step::kubernetes_api, fail).ok());
  EXPECT_EQ(steps.failed(), Step::kubernetes_api);
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"step machines started", "step machines finished",
                                                          "step kubernetes-api started", "step kubernetes-api failed"}));
}

TEST(Steps, LastLongerOnSlowMachines) {
  testing_support::TestContext test;
  Steps steps;
  EXPECT_EQ(steps.limit_of(Step::kubernetes_api), row_of(Step::kubernetes_api).limit);
  steps.set_pace(8);
  EXPECT_EQ(steps.limit_of(Step::kubernetes_api), 8 * row_of(Step::kubernetes_api).limit);
  EXPECT_EQ(steps.limit_of(Step::machines), Milliseconds(0)) << "no limit remains none";
  EXPECT_TRUE(steps.run(test.context(), Step::kubernetes_api, []() -> Result<> { return Ok{}; }).ok());
  EXPECT_EQ(test.events().front().fields.at("limit_ms"), Json(8 * row_of(Step::kubernetes_api).limit.count()));
}

TEST(Steps, WaitLongerForMachinesWithImagesOfTheirOwn) {
  for (const config::ImageMode mode : {config::ImageMode::build_on_bootstrap, config::ImageMode::pre_built}) {
    Steps steps;
    steps.set_image_mode(mode);
    const auto added = [&](Step step) { return steps.limit_of(step) - row_of(step).limit; };
    EXPECT_EQ(added(Step::kubernetes_api), Milliseconds(0));
    EXPECT_EQ(added(Step::control_plane_nodes), assets::os_build_allowance);
    EXPECT_EQ(added(Step::bootstrap_complete), assets::os_build_allowance);
    EXPECT_EQ(added(Step::worker_nodes), assets::first_boot_hold);
    EXPECT_EQ(added(Step::cluster_operators), Milliseconds(0));
  }
}

}  // namespace
}  // namespace slipway::cluster
