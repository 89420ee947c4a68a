// cluster-etcd-operator operator: moves etcd from the bootstrap machine to the masters and manages its members, certificates and
// pods there.
#pragma once

#include "components/static_pod/static_pod_operator.h"

namespace slipway::components::etcd {

// `http` must outlive the operator.
StaticPodOperator make_operator(const OperatorVariables& variables, net::Http& http);

// The command `operator`; see run_static_pod_operator.
Result<> run_operator(const Environment& environment, const Arguments& arguments);
// The command `wait-for-ceo`: waits without a limit until etcd runs on the masters, that is until condition EtcdRunningInCluster
// of etcds/cluster is True.
Result<> run_wait_for_ceo(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
