// `cluster-config-operator operator`: keeps what follows for everybody from the configuration of the cluster (operators 4.6):
// the gates in the status of the FeatureGate, the cloud configuration as components mount it, the authorities that pods trust
// when they talk to services.
#pragma once

#include "operators/lib/workload_operator.h"

#include <vector>

namespace slipway::operators {

// Its objects and conditions. Never an error: what is wrong with one of them does not keep the others. Pure.
//
//   lists  FeatureGate objects of the release, as with_gates takes them (feature_gates.h)
Aim plan_config(const std::vector<Json>& lists, const ReleaseVersion& release, const Snapshot& seen);

Result<> run_config_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
