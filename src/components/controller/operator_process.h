// The process of an operator of static pods or of workloads: becomes the leader, reconciles, and releases the Lease.
#pragma once

#include "components/controller/reconcile.h"
#include "components/program/program.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

struct OperatorProcess {
  std::string space;  // namespace of its Lease PROGRAM-lock
  std::vector<Watched> watched;
  std::function<Result<Plan>(const Snapshot& seen, WallTime now)> plan;
  // Runs in parallel with the plan while this process is the leader. May put facts into the view. Empty: none.
  std::function<Result<>(const sys::Context& context, kube::Api& api, View& view)> observer{};
};

// A variable that the environment of this program must have. errors: invalid: it is missing or empty
Result<std::string> environment_text(const std::string& name);

// Runs until a stop, which is success. Offers metrics (process_metrics.h). --config is accepted for compatibility with upstream
// and not used.
//
//   program    "cluster-etcd-operator"; also the field manager of its writes
//   arguments  [--kubeconfig=FILE] [--config=FILE] [-v N]
//   make       called after the arguments have been checked
//   errors     those of `make`; invalid: arguments; unavailable: the Lease was lost; denied
Result<> run_operator_process(const Environment& environment, const Arguments& arguments, std::string_view program,
                              const std::function<Result<OperatorProcess>()>& make);

}  // namespace slipway::components
