// Workers that are added to a cluster, or removed from it, after its installation.
#pragma once

#include "cluster/environment.h"
#include "kube/client.h"
#include "kube/machine_table.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// Which cluster, and how to reach it.
struct Workers {
  provider::Provider& machines;
  kube::Api& api;
};

// Makes a machine, writes it into the table of those that may join, and waits until its node is Ready. The config of new machines
// is the cluster's own: Secret openshift-machine-api/worker-user-data. Each step is an event of kind "step"; the same call with
// the name again continues.
//
//   name     of the worker; empty: the first of worker-0, worker-1, ... that nobody has
//   returns  the name
//   errors   invalid: a name that no worker may have; conflict: a node of the name whose machine is gone; timeout: what was
//   waited
//            for and what the machine says; those of the provider and of Api
//   time     minutes; a stop ends the waiting, the machine goes on
Result<std::string> create_worker(const Environment& environment, const Workers& where, const std::string& name);

// Takes a worker out: no new pods, its pods leave, the machine is removed, its row of the table, its node. The same call again
// continues.
//
//   force   does not wait for pods to leave
//   errors  not_found: nothing of this name; invalid: it is no worker; timeout: pods that do not leave, and why; those of the
//           provider and of Api
Result<> destroy_worker(const Environment& environment, const Workers& where, const std::string& name, bool force);

// The name of the next worker. Pure.
std::string next_worker_name(const std::vector<std::string>& taken);

// What stands against a worker of that name, as a sentence: it is the name of another kind of machine. Pure.
std::optional<std::string> no_worker(const std::string& name, const kube::MachineTable& rows, const std::optional<Json>& node);

// Whether another node takes pods that tolerate nothing, routers for one: it is Ready, schedulable, without such a taint. Pure.
bool has_other_home(const std::vector<Json>& nodes, const std::string& leaving);

}  // namespace slipway::cluster
