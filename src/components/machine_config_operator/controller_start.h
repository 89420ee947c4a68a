// `machine-config-controller start`: renders the configs of pools, assigns them to nodes, and drains nodes for their daemons.
#pragma once

#include "components/controller/reconcile.h"
#include "components/machine_config_operator/os_build_controller.h"
#include "components/machine_config_operator/render_controller.h"
#include "components/program/program.h"

#include <string>
#include <utility>
#include <vector>

namespace slipway::components::machine_config_operator {

// Lifetime: api and view must outlive it and its plans. Threads: one.
class MachineConfigController {
 public:
  struct Options {
    std::string version;   // version of the release
    std::string own_node;  // name of the node that this process runs on
    std::string own_pod;
  };

  MachineConfigController(kube::Api& api, View& view, Options options)
      : api_(api), view_(view), options_(std::move(options)), renders_(options_.version), builds_(api, view, options_.version) {}

  static std::vector<Watched> watched();

  // Plans rendering and builds of images, then pools with the results of both, then drains that daemons request. Changes of nodes
  // are tasks: each patch names the version of the node that the plan has read, and the API server refuses it when the node has
  // changed since.
  Plan plan(const Snapshot& seen, WallTime now);

 private:
  kube::Api& api_;
  View& view_;
  Options options_;
  RenderController renders_;
  OsBuildController builds_;
};

// The command. Requires the environment variables RELEASE_VERSION, NODE_NAME and POD_NAME.
Result<> run_controller(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
