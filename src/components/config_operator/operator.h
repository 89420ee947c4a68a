// `cluster-config-operator operator`: manages objects that are derived from the configuration of the cluster: the gates in the
// status of the FeatureGate, the cloud configuration in the form that components mount, and copies of the authorities that pods
// trust for services. It also reports settings of the cluster that have no effect in this release.
#pragma once

#include "components/workload/workload_operator.h"

#include <vector>

namespace slipway::components::config_operator {

// Its objects and conditions. Problems become conditions instead of errors, so that a problem with one object does not stop the
// others. Pure.
//
//   lists  FeatureGate objects of the release, see with_gates (feature_gates.h)
DesiredState plan_config(const std::vector<Json>& lists, const ReleaseVersion& release, const Snapshot& seen);

// lists: the feature gates of each feature set
WorkloadOperator make_operator(std::vector<Json> lists, const ReleaseVersion& release);

// companions: operators that run in the same process
Result<> run_operator(const Environment& environment, const Arguments& arguments, std::vector<WorkloadOperator> companions);

}  // namespace slipway::components::config_operator
