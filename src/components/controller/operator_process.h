// The process of an operator, of static pods or of workloads: it leads by a Lease, reconciles, and gives the Lease back.
#pragma once

#include "components/controller/reconcile.h"
#include "components/program/program.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

struct OperatorProcess {
  std::string space;  // of its Lease PROGRAM-lock
  std::vector<Watched> watched;
  std::function<Result<Plan>(const Snapshot& seen, WallTime now)> plan;
  // Runs beside the plan, while this process leads, and may put facts into the view; none when empty.
  std::function<Result<>(const sys::Context& context, kube::Api& api, View& view)> observer{};
};

// A variable of this program's environment that has to be there. errors: invalid: it is missing or empty
Result<std::string> environment_text(const std::string& name);

// Runs until it is told to stop, which is success. --config is taken as upstream does; it has nothing that we need.
//
//   program    "cluster-etcd-operator"; the manager of what it writes
//   arguments  [--kubeconfig=FILE] [--config=FILE] [-v N]
//   make       makes it, once the arguments are known to be right
//   errors     those of `make`; invalid: arguments; unavailable: the Lease was lost; denied
Result<> run_operator_process(const Environment& environment, const Arguments& arguments, std::string_view program,
                              const std::function<Result<OperatorProcess>()>& make);

}  // namespace slipway::components
