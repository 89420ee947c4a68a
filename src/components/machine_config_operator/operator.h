// `machine-config-operator start`: keeps the objects and programs of machine configuration in the cluster: the ControllerConfig,
// the pools of masters and workers, controller, server and daemon.
#pragma once

#include "components/program/program.h"
#include "components/workload/workload_operator.h"

#include <string>
#include <vector>

namespace slipway::components::machine_config_operator {

// What pools say to people, as conditions of the operator; Pools stands before each type. Pure.
//
//   PoolsAvailable    the masters have reached a config once
//   PoolsProgressing  nodes of a pool that is not paused run another config than the pool's
//   PoolsDegraded     a pool is, with its reason
//   PoolsUpgradeable  every pool is updated
std::vector<Condition> pool_conditions(const Snapshot& seen);

WorkloadOperator make_operator(const std::string& version);

// The command.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
