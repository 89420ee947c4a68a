// WorkloadCluster: a cluster as an operator of workloads sees it, to check its plans without a server.
//
//   struct Cluster : WorkloadCluster {
//     Cluster() : WorkloadCluster(make_operator("r/coredns@sha256:1")) { put("{apiVersion: v1, kind: Node, ...}"); }
//   };
#pragma once

#include "base/yaml.h"
#include "components/workload/workload_operator.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::testing_support {

class WorkloadCluster {
 public:
  explicit WorkloadCluster(components::WorkloadOperator made) : work(std::move(made)) {}

  void put(const std::string& text) {
    Result<YamlDocument> parsed = parse_yaml(text, "test");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    view.put(parsed->value);
  }
  components::DesiredState desired_state() const {
    const Result<components::DesiredState> made = work.desired_state(view.snapshot(), now);
    EXPECT_TRUE(made.ok()) << made.error().message();
    return made.ok() ? made.value() : components::DesiredState{};
  }

  components::View view;
  components::WorkloadOperator work;
  WallTime now{Milliseconds(1'795'262'400'000)};
};

}  // namespace slipway::testing_support
