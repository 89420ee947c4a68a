// `cluster-config-operator operator`: keeps objects that follow from the configuration of the cluster: the gates in the status of
// the FeatureGate, the cloud configuration as components mount it, the authorities that pods trust when they talk to services. It
// also reports settings of the cluster that have no effect in this release.
#pragma once

#include "components/workload/workload_operator.h"

#include <vector>

namespace slipway::components::config_operator {

// Its objects and conditions. Never an error: what is wrong with one of them does not keep the others. Pure.
//
//   lists  FeatureGate objects of the release, as with_gates takes them (feature_gates.h)
DesiredState plan_config(const std::vector<Json>& lists, const ReleaseVersion& release, const Snapshot& seen);

// lists: the feature gates of each feature set
WorkloadOperator make_operator(std::vector<Json> lists, const ReleaseVersion& release);

Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::config_operator
