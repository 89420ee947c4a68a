#include "components/kube_scheduler/render.h"

#include "support/operator_environment.h"
#include "support/render_assets.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_scheduler {
namespace {

const Arguments arguments = {"--manifest-image=registry.example.com/hyperkube@sha256:1", "--asset-input-dir=/assets/tls",
                             "--asset-output-dir=/out", "--config-output-file=/out/config"};

TEST(SchedulerRender, WritesThreeFilesEachTime) {
  testing_support::OperatorEnvironment world;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(run_render(world.environment(), arguments).ok());
    EXPECT_EQ(world.names("/out"), (std::vector<std::string>{"bootstrap-manifests/kube-scheduler-pod.yaml", "config",
                                                             "manifests/00_openshift-kube-scheduler-ns.yaml"}));
  }
}

TEST(SchedulerRender, RequiresAFeatureGateInGivenManifests) {
  testing_support::OperatorEnvironment world;
  world.put("/m/a", "{apiVersion: v1, kind: A, metadata: {name: a}}");
  Arguments more = arguments;
  more.push_back("--rendered-manifest-files=/m");
  EXPECT_FALSE(run_render(world.environment(), more).ok());
}

}  // namespace
}  // namespace slipway::components::kube_scheduler
