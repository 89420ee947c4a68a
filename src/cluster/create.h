// `create cluster`: from an install-config to a cluster.
#pragma once

#include "assets/assets.h"
#include "net/environment.h"
#include "provider/local/client.h"
#include "sys/events.h"

#include <string>
#include <vector>

namespace slipway::cluster {

class FaultWatch;

// What acting functions of this folder are given.
using Environment = net::Environment;

// Where local machines come from and live.
struct LocalGround {
  std::string state;    // folder of clusters, absolute
  std::string program;  // slipway itself
  std::string os_repo{};
  provider::local::Images images{};

  provider::local::ClusterChoice choice(const std::string& cluster) const { return {state, cluster, program}; }
};

// Looks at the host, makes the bootstrap machine, the control plane's and the workers, waits until the control plane runs on its
// own, removes the bootstrap machine, and waits for the workers and until the release is installed. Each step is an event of kind
// "step". The same call again continues: machines that are there stay, what is true is not waited for. Once the bootstrap machine
// was removed none is made any more, for workers may have come and gone since (workers.h); those that are there are switched on.
//
//   assets   of platform local
//   keep_bootstrap  the bootstrap machine stays, for people who want to look at it
//   earlier  what earlier calls have told; operators' events among it are not told again
//   faults   hears the stream; what is wrong and will not heal by itself ends the call (fault_watch.h)
//   folder   where a log bundle is left when the call fails
//   errors   invalid: everything that is missing on the host at once, a finding; those of the provider; timeout: what was waited
//   for,
//            with the last failure that the bootstrap machine told, and what was found
//   time     minutes; a stop ends the waiting, machines go on
Result<> create_local_cluster(const Environment& environment, const LocalGround& ground, const assets::Assets& assets,
                              const std::vector<sys::Event>& earlier, FaultWatch& faults, const std::string& folder,
                              bool keep_bootstrap = false);

}  // namespace slipway::cluster
