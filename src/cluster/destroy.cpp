#include "cluster/destroy.h"

#include <algorithm>

namespace slipway::cluster {

namespace local = provider::local;

Result<> destroy_local_cluster(const Environment& environment, const LocalGround& ground, const std::string& cluster) {
  return local::destroy_cluster(environment.context, environment.files, ground.choice(cluster));
}

Result<> destroy_local_bootstrap(const Environment& environment, const LocalGround& ground, const std::string& cluster) {
  const local::ClusterChoice choice = ground.choice(cluster);
  const std::vector<local::MachineStatus> machines = TRY(local::list_machines(environment.context, environment.files, choice));
  if (std::ranges::find(machines, "bootstrap", &local::MachineStatus::name) == machines.end()) return Ok{};
  TRY(local::ensure_owner(environment.context, environment.files, choice));
  TRY(local::ask(environment.context, choice, {.order = local::Order::destroy, .machines = {"bootstrap"}}));
  return Ok{};
}

}  // namespace slipway::cluster
