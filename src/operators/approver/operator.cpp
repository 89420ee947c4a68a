#include "operators/approver/operator.h"

#include "operators/approver/approver.h"

namespace slipway::operators::approver {

namespace {

// That there is no table is fine: machines are then let in by people.
Condition table_condition(const Snapshot& seen) {
  Condition degraded{.type = "MachineTableDegraded"};
  const Json* table = seen.find(kube::types::config_maps, machine_table_space, machine_table_name);
  if (!table) return degraded;
  const auto machines = machine_table(*table, kube::describe(*table));
  if (machines.ok()) return degraded;
  return {.type = degraded.type,
          .is_true = true,
          .reason = "Unreadable",
          .message = fmt::format("{}: no machine can join until it is mended", machines.error().message())};
}

}  // namespace

WorkloadOperator make_operator() {
  return {.name = "machine-approver",
          .space = "openshift-cluster-machine-approver",
          .watched = {{.type = kube::types::config_maps,
                       .space = std::string(machine_table_space),
                       .selection = {.fields = fmt::format("metadata.name={}", machine_table_name)}}},
          .aim = [](const Snapshot& seen, WallTime) -> Result<Aim> {
            return Aim{.conditions = {{.type = "ApproverAvailable", .is_true = true},
                                      {.type = "ApproverProgressing", .is_true = false},
                                      table_condition(seen)}};
          },
          .observer = [](const sys::Context& context, kube::Api& api,
                         View&) { return approve_requests(context, api, {.follows_table = true}); }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(
      environment, arguments, "machine-approver",
      [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> { return make_operator(); });
}

}  // namespace slipway::operators::approver
