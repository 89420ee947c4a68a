// One look at a cluster: what its API and its machines say at this moment, as a bundle in memory for the walk of diagnosis/why.h.
#pragma once

#include "cluster/environment.h"
#include "cluster/gather.h"
#include "diagnosis/bundle.h"
#include "diagnosis/snapshot.h"
#include "diagnosis/why.h"
#include "provider/provider.h"

#include <string>
#include <vector>

namespace slipway::cluster {

// The objects of the API that the walk reads, with the names of their files.
struct ObservedType {
  std::string_view file;
  kube::ResourceType type;
  std::string space{};   // namespace; empty: all
  std::string fields{};  // field selector, "type=Warning"
  // Read from the memory of an API server instead of from etcd, which is much cheaper; it may be some seconds old. Not for
  // what tells whether etcd answers and whether kubelets do.
  bool is_cached = true;
};
const std::vector<ObservedType>& observed_types();

// What each machine that is on sees of the others; machines that miss what another one reaches are asked twice.
struct Probed {
  std::string machine;
  Result<std::string> lines;  // as in diagnosis/probe.h
};
Result<std::vector<Probed>> probe_machines(const sys::Context& context, provider::Provider& provider,
                                           std::vector<provider::MachineStatus> machines, Milliseconds limit);

struct Look {
  std::vector<diagnosis::Chain> chains;  // without secrets
  diagnosis::Snapshot snapshot;
};

// Looks at the cluster's API and, if the platform runs commands, at its machines. What does not answer in time is missing: a
// silent API and a silent machine are links themselves.
//
//   situation  how patient the walk is
//   limit      for the whole look
//   errors  not_found: there is neither a kubeconfig nor a machine to ask; cancelled
Result<Look> look(const Environment& environment, const Subject& subject,
                  const diagnosis::Object& object = diagnosis::whole_cluster,
                  diagnosis::Situation situation = diagnosis::Situation::usual, Milliseconds limit = Seconds(10));

}  // namespace slipway::cluster
