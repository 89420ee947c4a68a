// An installation: from assets to a cluster.
#pragma once

#include "assets/assets.h"
#include "cluster/environment.h"
#include "cluster/steps.h"
#include "kube/client.h"
#include "provider/provider.h"
#include "sys/events.h"

#include <string>
#include <vector>

namespace slipway::cluster {

class FaultWatch;

// What an installation works on; all of it outlives the call.
struct Installation {
  const assets::Assets& assets;
  provider::Provider& machines;  // of the assets' platform
  kube::Api& api;                // of the new cluster, as users reach it
  std::string folder;            // where a log bundle is written when the installation fails
  std::string release{};         // image by digest that the assets install
  std::string release_version{};
  std::vector<sys::Event> earlier{};  // of earlier calls; operators' events among them are not repeated
  bool keep_bootstrap = false;        // the bootstrap machine stays, for people who want to look at it

  provider::ClusterRequest request() const { return {assets.config, assets.id, release, release_version}; }
};

// Checks what the machines need, creates the bootstrap machine, the control plane's and the workers, waits until the control
// plane runs on its own machines, removes the bootstrap machine, and waits for the workers and until the release is installed.
// Each step is an event of kind "step". The same call again continues: machines that exist stay, what is true is not waited for.
// After the bootstrap machine was removed no machine is created any more, for workers may have been added and removed since
// (workers.h); those that exist are switched on.
//
//   steps   knows the step that failed
//   faults  gets all events; what is wrong and will not heal by itself ends the call (fault_watch.h)
//   errors  invalid: everything that is missing for the machines at once; those of the provider; timeout: what was waited for,
//   with
//           the last failure of the bootstrap machine, and what was found
//   time    minutes; a stop ends the waiting, machines keep running
Result<> install(const Environment& environment, const Installation& of, FaultWatch& faults, Steps& steps);

}  // namespace slipway::cluster
