// Image mode in the cluster: builds the operating system image of every pool that has a MachineOSConfig, and says which image its
// nodes should have.
//
//   MachineOSConfig, rendered config ─► MachineOSBuild ─► Job ─► result ─► image of the pool (pools.h)
//
// The MachineOSBuild of a pool has the name that machineconfig::plan_os_build gives it. If the bootstrap machine built the image
// of that name, or the MachineOSConfig names an image that was built before, the MachineOSBuild has Succeeded without a Job.
// Otherwise:
//
//   Prepared ─► Building ─┬─► Succeeded     the objects of the build are deleted
//                         ├─► Failed        stays until its inputs change, or until the annotation `rebuild`
//                         └─► Interrupted   the Job was deleted; the MachineOSBuild is made again
//
// Building says why a pod of the Job does not start, if it does not. The annotation `rebuild` builds without what earlier builds
// left on the machines.
//
// Images stay in their registry: the controller has no login for it.
#pragma once

#include "components/controller/reconcile.h"
#include "machineconfig/os_build.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// The image that the nodes of a pool get with its config.
struct PoolImage {
  std::string image{};      // by digest; empty: there is none yet for this config
  std::string waits_for{};  // if there is none yet: "MachineOSBuild worker-5f0c, which is Building"
  std::string problem{};    // why there will be none before a person acts
};
// Pools with a MachineOSConfig, by name.
using PoolImages = std::map<std::string, PoolImage, std::less<>>;

// The conditions of a MachineOSBuild. Exactly one of them is True.
enum class BuildPhase { prepared, building, failed, interrupted, succeeded };
// Nothing if no condition is True.
std::optional<BuildPhase> phase_of(const Json& build);

struct OsBuildsPlan {
  Plan plan{};
  PoolImages images{};
};

// Caches the planned builds while their inputs are the same. Apart from the cache it is a pure function. Threads: one.
class OsBuildController {
 public:
  // version: of the release; a ControllerConfig of another version is ignored. api and view must outlive the plans.
  OsBuildController(kube::Api& api, View& view, std::string version) : api_(api), view_(view), version_(std::move(version)) {}

  // The other objects that it reads are watched by RenderController.
  static std::vector<Watched> watched();

  // Builds nothing before the bootstrap is complete.
  OsBuildsPlan plan(const Snapshot& seen, WallTime now);

 private:
  // What a pool's build is planned from, and the result.
  struct Planned {
    std::string inputs{};
    std::optional<machineconfig::OsConfig> config{};
    std::optional<machineconfig::OsBuild> build{};
    std::string waits_for{};
    std::string problem{};
  };

  const Planned& planned_for(const Json& os_config, const Snapshot& seen);

  kube::Api& api_;
  View& view_;
  std::string version_;
  std::map<std::string, Planned, std::less<>> planned_;  // by pool
};

}  // namespace slipway::components::machine_config_operator
