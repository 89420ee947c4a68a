// Adds workers to an installed cluster and removes them.
#pragma once

#include "cluster/environment.h"
#include "kube/client.h"
#include "kube/machine_table.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// The cluster of the workers.
struct Workers {
  provider::Provider& machines;
  kube::Api& api;
};

// Creates a machine, adds it to the machine table, and waits until its node is Ready. The Ignition config of new machines is in
// Secret openshift-machine-api/worker-user-data. Each step is an event of kind "step". The same call with the name continues an
// interrupted call.
//
//   name     of the worker; empty: the first unused name of worker-0, worker-1, ...
//   returns  the name
//   errors   invalid: the name is not allowed for a worker; conflict: a node with the name exists without a machine; timeout:
//            what was waited for, and what the machine reports; those of the provider and of Api
//   time     minutes; a stop ends the wait, the machine keeps running
Result<std::string> create_worker(const Environment& environment, const Workers& where, const std::string& name);

// Removes a worker: cordons and drains the node, removes the machine, its row in the machine table, and the node. The same call
// continues an interrupted call.
//
//   force   do not drain, and do not keep a worker that has data of local volumes
//   errors  not_found: no machine, row or node with this name; invalid: not a worker; conflict: it has data of local volumes;
//           timeout: pods that were not evicted, and why; those of the provider and of Api
Result<> destroy_worker(const Environment& environment, const Workers& where, const std::string& name, bool force);

// Adds or removes workers until the cluster has so many. New ones are created together and get the first unused names; those with
// the highest numbers are removed, one after the other. The same call continues an interrupted call, and completes workers that
// an earlier call left unfinished.
//
//   errors  as of create_worker and destroy_worker
struct Scaled {
  std::vector<std::string> added, removed;
};
Result<Scaled> scale_workers(const Environment& environment, const Workers& where, int count, bool force);

// Which workers scale_workers() adds and removes. Pure.
//
//   workers  the names of the machines that are workers
//   taken    all names that are in use
Scaled plan_scale(std::vector<std::string> workers, std::vector<std::string> taken, int count);

// The name of the next worker. Pure.
std::string next_worker_name(const std::vector<std::string>& taken);

// Why a worker must not have this name: another kind of machine has it. Pure.
std::optional<std::string> worker_name_problem(const std::string& name, const kube::MachineTable& rows,
                                               const std::optional<Json>& node);

// Whether a machine is a worker, by its row or its node. One that has neither counts only if its name begins with "worker-":
// others may be masters whose Node was deleted. Pure.
bool is_worker(const std::string& name, const kube::MachineTable& rows, const std::optional<Json>& node);

// Whether another node accepts pods without tolerations, such as routers: it is Ready, schedulable and without taints that keep
// such pods away. Pure.
bool has_other_schedulable_node(const std::vector<Json>& nodes, const std::string& except);

}  // namespace slipway::cluster
