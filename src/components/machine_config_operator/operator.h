// `machine-config-operator start`: manages the objects and programs of machine configuration in the cluster: the
// ControllerConfig,
// the pools master and worker, and the controller, server and daemon.
#pragma once

#include "components/program/program.h"
#include "components/workload/workload_operator.h"

#include <string>
#include <vector>

namespace slipway::components::machine_config_operator {

// Summarizes the pools as conditions of the operator. Pure.
//
//   PoolsAvailable    the masters have reached a config at least once
//   PoolsProgressing  nodes of a pool that is not paused have another config than the pool
//   PoolsDegraded     a pool is degraded; the message has its reason
//   PoolsUpgradeable  every pool is updated
std::vector<Condition> pool_conditions(const Snapshot& seen);

WorkloadOperator make_operator(const std::string& version);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
