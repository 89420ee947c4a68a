// `machine-config-controller start`: renders the configs of pools, assigns them to nodes, and drains nodes for their daemons.
#pragma once

#include "components/controller/reconcile.h"
#include "components/machine_config_operator/render_controller.h"
#include "components/program/program.h"

#include <string>
#include <utility>
#include <vector>

namespace slipway::components::machine_config_operator {

// Lifetime: api and view outlive it and its plans. Threads: one.
class MachineConfigController {
 public:
  struct Options {
    std::string version;   // of the release
    std::string own_node;  // where this process runs
    std::string own_pod;
  };

  MachineConfigController(kube::Api& api, View& view, Options options)
      : api_(api), view_(view), options_(std::move(options)), renders_(options_.version) {}

  static std::vector<Watched> watched();

  // Rendering, then the pools with what it says, then the wishes of daemons. Changes of nodes are tasks: they are made of the
  // node as it was seen, and refused when it has changed since.
  Plan plan(const Snapshot& seen, WallTime now);

 private:
  kube::Api& api_;
  View& view_;
  Options options_;
  RenderController renders_;
};

// The command. RELEASE_VERSION, NODE_NAME and POD_NAME have to be set.
Result<> run_controller(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
