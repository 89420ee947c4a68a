// cluster-etcd-operator operator: moves etcd from the bootstrap machine to the masters and keeps its members, certificates and
// pods there.
#pragma once

#include "components/static_pod/static_pod_operator.h"

namespace slipway::components::etcd {

// `http` outlives it.
StaticPodOperator make_operator(const OperatorVariables& variables, net::Http& http);

// The command `operator`; as run_static_pod_operator.
Result<> run_operator(const Environment& environment, const Arguments& arguments);
// The command `wait-for-ceo`: waits, for ever, until etcd runs on the masters: condition EtcdRunningInCluster of the object
// etcds/cluster.
Result<> run_wait_for_ceo(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
