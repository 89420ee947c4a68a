// The operator metrics-server: runs metrics-server, which `kubectl top` and HorizontalPodAutoscalers ask. It has no program of
// its own: cluster-config-operator runs it.
#pragma once

#include "components/workload/workload_operator.h"

#include <string>

namespace slipway::components::metrics_server {

// While metrics have been missing for less than this, the ClusterOperator is Progressing but Available: a pod that moves to
// another master needs up to two minutes. After it, the ClusterOperator is not Available, and the APIService is removed until a
// pod is available again: the API server would ask it in vain, and namespaces that are being deleted would stay.
inline constexpr Milliseconds outage_limit = std::chrono::minutes(5);

// During the installation the operator reports Available and creates nothing: it starts metrics-server when ClusterVersion has
// completed a version. The first start may take the same time before it counts as an outage; until then the ClusterOperator is
// Available and not Progressing, because the installation is complete without it.
//
//   image  of metrics-server
//   space  namespace of the process that runs this operator
WorkloadOperator make_operator(std::string image, std::string space);

}  // namespace slipway::components::metrics_server
