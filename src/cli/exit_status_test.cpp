#include "cli/exit_status.h"

#include "cluster/ready.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(ExitStatus, EveryStepThatIsWaitedForHasItsOwn) {
  config::InstallConfig config;
  config.compute = {{.name = "worker", .replicas = 1}};
  for (const cluster::Condition& condition : cluster::bootstrap_conditions(config)) {
    EXPECT_EQ(status_of_step(condition.name), ExitStatus::bootstrap) << condition.name;
  }
  for (const cluster::Condition& condition : cluster::install_conditions(config)) {
    EXPECT_EQ(status_of_step(condition.name),
              condition.name == "cluster-operators" ? ExitStatus::operators : ExitStatus::initialisation)
        << condition.name;
  }
  EXPECT_EQ(status_of_step("machines"), ExitStatus::infrastructure);
  EXPECT_EQ(status_of_step("assets"), ExitStatus::failure);
  EXPECT_EQ(status_of_step(""), ExitStatus::failure);
}

TEST(ExitStatus, TheStepThatFailedIsHeard) {
  FailedStep step;
  step.hear({.kind = "step", .name = "machines", .phase = sys::Phase::finished});
  step.hear({.kind = "stage", .name = "etcd-bootstrap", .phase = sys::Phase::failed});
  EXPECT_EQ(step.name(), "");
  step.hear({.kind = "step", .name = "kubernetes-api", .phase = sys::Phase::failed});
  EXPECT_EQ(step.name(), "kubernetes-api");
}

}  // namespace
}  // namespace slipway::cli
