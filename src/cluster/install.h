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

// The inputs of an installation. All of them must outlive the call.
struct Installation {
  const assets::Assets& assets;
  provider::Provider& machines;  // of the assets' platform
  kube::Api& api;                // of the new cluster, as users reach it
  std::string folder;            // where a log bundle is written when the installation fails
  std::string release{};         // release image by digest
  std::string release_version{};
  std::vector<sys::Event> earlier{};  // events of earlier calls; operator events among them are not emitted again
  bool keep_bootstrap = false;        // do not remove the bootstrap machine, for debugging
  Secret os_registry_login{};         // as in ClusterRequest

  provider::ClusterRequest request() const {
    const auto root = assets.tls.find("root-ca");
    const bool can_sign = root != assets.tls.end() && !root->second.key.empty();
    return {assets.config, assets.id, release, release_version, can_sign ? &root->second : nullptr, os_registry_login};
  }
};

// What install() would create on the platform. Changes nothing. errors: those of the provider
Result<provider::plan::Preview> preview(const sys::Context& context, provider::Provider& machines,
                                        const provider::ClusterRequest& request, const assets::Assets& assets);

// Runs the preflight checks, creates the bootstrap machine, the control plane machines and the workers, waits until the control
// plane runs on its own machines, removes the bootstrap machine, and waits for the workers and the release. Each step is an event
// of kind "step". The same call continues an interrupted installation: existing machines are kept, and conditions that hold take
// no time. After the bootstrap machine is removed, no machine is created: workers may have been added and removed since then
// (workers.h). Existing machines are started.
//
//   steps   records the step that failed
//   faults  receives all events; a final finding ends the call (fault_watch.h)
//   errors  invalid: all unmet requirements of the machines together; those of the provider; timeout: the condition that was
//           waited for, with the last failure of the bootstrap machine and the findings
//   time    minutes; a stop ends the wait, the machines keep running
Result<> install(const Environment& environment, const Installation& installation, FaultWatch& faults, Steps& steps);

}  // namespace slipway::cluster
