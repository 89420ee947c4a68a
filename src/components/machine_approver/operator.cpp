#include "components/machine_approver/operator.h"

#include "components/machine_approver/approver.h"

namespace slipway::components::machine_approver {

namespace {

// A fact of this process, not an object of the cluster.
const kube::ResourceType facts{std::string(kube::private_domain), "v1", "approverfacts", "ApproverFact", false};
constexpr std::string_view following = "following";

Condition available_condition(const Snapshot& seen) {
  if (seen.find(facts, "", following)) return {.type = "ApproverAvailable", .is_true = true};
  return {.type = "ApproverAvailable",
          .is_true = false,
          .reason = "NotFollowing",
          .message = "certificate requests, nodes and the machine table have not been listed yet"};
}

// A missing table is not an error: users then approve machines.
Condition table_condition(const Snapshot& seen) {
  Condition degraded{.type = "MachineTableDegraded"};
  const Json* table = seen.find(kube::types::config_maps, kube::machine_table_space, kube::machine_table_name);
  if (!table) return degraded;
  const auto machines = kube::parse_machine_table(*table);
  if (machines.ok()) return degraded;
  return {.type = degraded.type,
          .is_true = true,
          .reason = "Unreadable",
          .message = fmt::format("{}: no machine can join until it is corrected", machines.error().message())};
}

}  // namespace

Json following_fact() { return {{"apiVersion", facts.api_version()}, {"kind", facts.kind}, {"metadata", {{"name", following}}}}; }

WorkloadOperator make_operator() {
  return {
      .name = "machine-approver",
      .space = "openshift-cluster-machine-approver",
      .watched = {{.type = kube::types::config_maps,
                   .space = std::string(kube::machine_table_space),
                   .selection = {.fields = fmt::format("metadata.name={}", kube::machine_table_name)}}},
      .desired_state = [](const Snapshot& seen, WallTime) -> Result<DesiredState> {
        return DesiredState{
            .conditions = {available_condition(seen), {.type = "ApproverProgressing", .is_true = false}, table_condition(seen)}};
      },
      .observer =
          [](const sys::Context& context, kube::Api& api, View& view) {
            return approve_requests(context, api,
                                    {.follows_table = true, .on_following = [&view] { view.put(following_fact()); }});
          }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(
      environment, arguments, "machine-approver",
      [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> { return make_operator(); });
}

}  // namespace slipway::components::machine_approver
