#include "cluster/create.h"

#include "cluster/bootstrap_log.h"
#include "cluster/local_cluster.h"
#include "cluster/ready.h"

#include "base/check.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "kube/client.h"
#include "sys/events.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace local = provider::local;

namespace {

std::vector<std::string> names_of(const std::vector<Machine>& machines, std::string_view role) {
  std::vector<std::string> names;
  for (const Machine& machine : machines) {
    if (machine.role == role) names.push_back(machine.name);
  }
  return names;
}

// The approver lets in who comes from where we said: the provider must have given the addresses that we planned.
Result<> check_addresses(const Environment& environment, const local::ClusterChoice& choice,
                         const std::vector<Machine>& planned) {
  const std::vector<local::MachineStatus> made = TRY(local::list_machines(environment.context, environment.files, choice));
  for (const Machine& machine : planned) {
    const auto found = std::ranges::find(made, machine.name, &local::MachineStatus::name);
    if (found == made.end() || found->address == machine.address) continue;
    return error(Code::conflict,
                 "{} has the address {} and not {}: machines were made in another order; destroy the cluster and create it again",
                 machine.name, found->address, machine.address);
  }
  return Ok{};
}

Result<> make_machines(const Environment& environment, const local::ClusterChoice& choice,
                       const std::vector<local::MachineGroup>& groups) {
  TRY(local::ensure_owner(environment.context, environment.files, choice));
  for (const local::MachineGroup& group : groups) {
    TRY(local::ask(environment.context, choice,
                   {.order = local::Order::create, .machines = group.names, .ignition = group.ignition}));
  }
  return Ok{};
}

// The way that people take, too.
Result<kube::Access> users_access(const assets::Assets& assets) {
  const std::string path = "auth/kubeconfig";
  const auto kubeconfig = std::ranges::find(assets.auth, path, &assets::AssetFile::path);
  CHECK(kubeconfig != assets.auth.end());
  return kube::parse_kubeconfig(kubeconfig->content, path, [](const std::string& file) -> Result<std::string> {
    return error(Code::invalid, "names the file {}, and has to hold what is in it", file);
  });
}

Result<> wait(const Environment& environment, const sys::Context& context, const assets::Assets& assets,
              const BootstrapLog& bootstrap) {
  kube::Client api(environment.http, TRY(users_access(assets)));
  for (const Condition& condition : join_conditions(assets.config)) {
    sys::Span span(context.events, context.clock, "step", condition.name, {{"description", condition.description}});
    TRY(span.end(condition.wait(
        context, api, [&] { return bootstrap.last_failure(); }, condition.limit)));
  }
  return Ok{};
}

}  // namespace

Result<> create_local_cluster(const Environment& environment, const LocalGround& ground, const assets::Assets& assets) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = ground.choice(assets.config.name);
  const local::ClusterWishes wishes = local_wishes(assets.config, assets.id, ground.os_repo, ground.images);
  const std::vector<Machine> machines = TRY(planned_machines(assets.config));
  const std::vector<local::MachineGroup> groups = {
      {names_of(machines, "bootstrap"), emit_json(ignition::to_json(assets.bootstrap), JsonStyle::compact)},
      {names_of(machines, "master"), emit_json(ignition::to_json(assets.master), JsonStyle::compact)},
  };
  TRY(local::preflight(context, environment.files, choice, wishes, groups));

  sys::Span span(context.events, context.clock, "step", "machines",
                 {{"description", fmt::format("{} machines are made", machines.size())}});
  TRY(span.end([&]() -> Result<> {
    TRY(local::ensure_cluster(environment.files, environment.random, choice, wishes));
    TRY(make_machines(environment, choice, groups));
    return check_addresses(environment, choice, machines);
  }()));

  BootstrapLog bootstrap;
  sys::TaskGroup listening(context);
  listening.run("events of the bootstrap machine",
                [&](const sys::Context& c) { return bootstrap.follow(c, environment.files, environment.runner, choice); });
  const Result<> waited = wait(environment, context, assets, bootstrap);
  listening.request_stop();
  (void)listening.wait();  // what it says does not matter any more
  return waited;
}

}  // namespace slipway::cluster
