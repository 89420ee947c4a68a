// The steps of an installation: name, time limit, and exit status on failure. The table is in steps.cpp.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "config/install_config.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cluster {

// Exit statuses of the program. The numbers are those of openshift-install.
enum class ExitStatus {
  failure = 1,         // every other error
  changes = 2,         // `plan cluster` has succeeded, and there is something to do
  broken = 2,          // `why` has found something that is broken
  install_config = 3,  // the install-config cannot be read or is invalid
  infrastructure = 4,  // the machines could not be created
  bootstrap = 5,       // the control plane does not run on its own machines
  initialisation = 6,  // the cluster is not complete
  operators = 7,       // the cluster is installed, but its operators do not settle
  interrupted = 8,     // a stop was requested
};

// In the order in which they run.
enum class Step {
  assets,
  machines,
  kubernetes_api,
  control_plane_nodes,
  bootstrap_complete,
  bootstrap_member,
  bootstrap_machine,
  nodes_ready,
  api_servers,
  worker_nodes,
  cluster_operators,
  cluster_version,
};

struct StepRow {
  Step step;
  std::string_view name;  // of the events of the step (docs/formats/events.md)
  std::string_view description;
  Milliseconds limit;  // of the wait; 0: no limit
  ExitStatus exit_status;
};

const StepRow& row_of(Step step);

// Runs steps, emits each as an event of kind "step", and records the one that failed. Threads: one.
class Steps {
 public:
  // description: replaces the description in the table; if it is empty, the table's is used
  Result<> run(const sys::Context& context, Step step, const std::function<Result<>()>& work, std::string description = {});

  const std::optional<Step>& failed() const { return failed_; }

  // How many times longer than on usual machines the waits may take (provider::Provider::pace).
  void set_pace(int pace) { pace_ = pace; }
  // In image mode, masters wait for the build of their operating system image, and workers may wait for theirs.
  void set_image_mode(config::ImageMode mode) { image_mode_ = mode; }
  Milliseconds limit_of(Step step) const;

 private:
  std::optional<Step> failed_;
  int pace_ = 1;
  config::ImageMode image_mode_ = config::ImageMode::none;
};

}  // namespace slipway::cluster
