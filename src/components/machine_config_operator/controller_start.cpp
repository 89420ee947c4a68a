#include "components/machine_config_operator/controller_start.h"

#include "components/controller/operator_process.h"
#include "components/machine_config_operator/drain.h"
#include "components/machine_config_operator/pools.h"

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;

constexpr std::string_view program = "machine-config-controller";

Task task_of(kube::Api& api, View& view, NodeChange change) {
  std::string name = change.task_name;
  return {std::move(name), [&api, &view, change = std::move(change)](const sys::Context& context) -> Result<> {
            view.put(TRY(kube::merge_patch(context, api, types::nodes, "", change.node, change.patch)));
            return Ok{};
          }};
}

bool has_single_master(const Snapshot& seen) {
  const Json* infrastructure = seen.find(types::infrastructures, "", "cluster");
  return infrastructure && find_string(*infrastructure, {"status", "controlPlaneTopology"}) == "SingleReplica";
}

}  // namespace

std::vector<Watched> MachineConfigController::watched() {
  std::vector<Watched> all = RenderController::watched();
  for (Watched& each : OsBuildController::watched()) all.push_back(std::move(each));
  all.insert(all.end(), {{types::machine_config_nodes},
                         {types::schedulers},
                         {types::infrastructures},
                         {types::config_maps, "kube-system", {.fields = "metadata.name=bootstrap"}},
                         {types::pods, "openshift-etcd"},
                         {types::pods, "openshift-kube-apiserver"}});
  return all;
}

Plan MachineConfigController::plan(const Snapshot& seen, WallTime now) {
  RenderPlan rendered = renders_.plan(seen, now);
  Plan plan = std::move(rendered.plan);
  OsBuildsPlan builds = builds_.plan(seen, now);
  PoolsPlan pools = plan_pools(seen, rendered.pools, builds.images, options_.own_node, now);
  plan.add(std::move(builds.plan));
  plan.add(std::move(pools.plan));
  for (NodeChange& change : plan_schedulable_masters(seen)) plan.tasks.push_back(task_of(api_, view_, std::move(change)));
  for (NodeChange& change : pools.changes) plan.tasks.push_back(task_of(api_, view_, std::move(change)));
  plan.add(plan_drains(api_, view_, {.own_pod = options_.own_pod, .is_single_master = has_single_master(seen)}, seen, now));
  return plan;
}

Result<> run_controller(const Environment& environment, const Arguments& arguments) {
  return run_operator_process(environment, arguments, program, [&]() -> Result<OperatorProcess> {
    MachineConfigController::Options options;
    options.version = TRY(environment_text("RELEASE_VERSION"));
    options.own_node = TRY(environment_text("NODE_NAME"));
    options.own_pod = TRY(environment_text("POD_NAME"));
    // Tasks need the API and the view, which OperatorProcess passes only to its observer; so the observer does all the work.
    const auto control = [options](const sys::Context& context, kube::Api& api, View&) -> Result<> {
      View view;
      MachineConfigController controller(api, view, options);
      return reconcile(context, api,
                       {.manager = std::string(program),
                        .watched = MachineConfigController::watched(),
                        .plan = [&](const Snapshot& seen, WallTime now) -> Result<Plan> { return controller.plan(seen, now); },
                        .view = view});
    };
    return OperatorProcess{.space = "openshift-machine-config-operator",
                           .watched = {},
                           .plan = [](const Snapshot&, WallTime) -> Result<Plan> { return Plan{}; },
                           .observer = control};
  });
}

}  // namespace slipway::components::machine_config_operator
