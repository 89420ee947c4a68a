#include "cluster/create.h"

#include "cluster/bootstrap_log.h"
#include "cluster/cluster_events.h"
#include "cluster/destroy.h"
#include "cluster/fault_watch.h"
#include "cluster/gather.h"
#include "cluster/local_cluster.h"
#include "cluster/ready.h"

#include "assets/tls/validity.h"
#include "base/check.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "kube/client.h"
#include "provider/local/forwarder.h"
#include "provider/local/shell.h"
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

// What a cluster of that name was made with, or what this one shall be made with.
Result<local::ClusterWishes> wishes_for(const Environment& environment, const LocalGround& ground, const assets::Assets& assets) {
  local::ClusterWishes wishes = local_wishes(assets.config, assets.id, ground.os_repo, ground.images, local::Forwarder::is_free);
  const local::ClusterChoice choice = ground.choice(assets.config.name);
  const auto made = local::read_cluster(environment.files, choice);
  if (!made.ok()) return made.error().code() == Code::not_found ? Result(std::move(wishes)) : made.error();
  if (!is_of(made.value(), assets.id)) {
    return error(
        Code::conflict,
        "cluster-name-taken: there is a cluster {} in {} already, made from another directory; name this one differently "
        "(metadata.name), or remove the other from where it was made: slipway destroy cluster --dir DIR",
        assets.config.name, ground.state);
  }
  wishes.forwards = made->forwards;  // its ports are taken, by itself
  return wishes;
}

// Somebody may have given one of the addresses that machines hold in turn to the network's host side before they do.
Result<> check_virtual_addresses(const Environment& environment, const local::ClusterChoice& choice,
                                 const config::InstallConfig& config) {
  const sys::Output there =
      TRY(local::run_in_network(environment.context, environment.files, environment.runner, choice,
                                {.argv = {"ip", "-4", "-oneline", "address", "show"}, .limit = Seconds(10)}));
  std::vector<std::string> wanted = config::api_vips(config);
  std::ranges::move(config::ingress_vips(config), std::back_inserter(wanted));
  for (const std::string& address : wanted) {
    if (there.out.find(fmt::format(" inet {}/", address)) == std::string::npos) continue;
    return error(Code::conflict,
                 "address-in-use: {} is in use already, by the host side of the cluster's network; take it away there, or choose "
                 "another in platform.local of the install-config",
                 address);
  }
  return Ok{};
}

Result<> make_machines(const Environment& environment, const LocalGround& ground, const assets::Assets& assets,
                       bool keep_bootstrap) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = ground.choice(assets.config.name);
  TRY(assets::check_validity(assets, context.clock.now()).to_result().context("the assets cannot be used"));
  const local::ClusterWishes wishes = TRY(wishes_for(environment, ground, assets));
  const std::vector<Machine> machines = TRY(planned_machines(assets.config));
  std::vector<local::MachineGroup> groups;
  const auto add = [&](std::string_view role, const ignition::Config& config, int inotify_instances, std::string after) {
    std::vector<std::string> names = names_of(machines, role);
    if (names.empty()) return;
    groups.push_back({.names = std::move(names),
                      .ignition = emit_json(ignition::to_json(config), JsonStyle::compact),
                      .inotify_instances = inotify_instances,
                      .after = std::move(after),
                      .is_of_cluster = true});
  };
  add("bootstrap", assets.bootstrap, local::inotify_of_control_plane, "");
  add("master", assets.master, local::inotify_of_control_plane, "");
  // Nobody has a config for them before: Ignition would ask every five seconds and be late when somebody has.
  add("worker", assets.worker, local::inotify_of_worker, keep_bootstrap ? "" : "bootstrap");
  TRY(local::preflight(context, environment.files, choice, wishes, groups));

  sys::Span span(context.events, context.clock, "step", "machines",
                 {{"description", fmt::format("{} machines are made", machines.size())}});
  return span.end([&]() -> Result<> {
    TRY(local::ensure_cluster(environment.files, environment.random, choice, wishes));
    TRY(local::ensure_owner(context, environment.files, choice));
    TRY(check_virtual_addresses(environment, choice, assets.config));
    for (const local::MachineGroup& group : groups) {
      TRY(local::ask(context, choice,
                     {.order = local::Order::create, .machines = group.names, .ignition = group.ignition, .after = group.after}));
    }
    return check_addresses(environment, choice, machines);
  }());
}

// The cluster has its machines, and people may have added workers to those that the install-config began with, or removed some.
Result<> start_machines(const Environment& environment, const LocalGround& ground, const assets::Assets& assets) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = ground.choice(assets.config.name);
  const local::ClusterWishes wishes = TRY(wishes_for(environment, ground, assets));
  sys::Span span(context.events, context.clock, "step", "machines", {{"description", "the machines of the cluster are on"}});
  return span.end([&]() -> Result<> {
    TRY(local::ensure_cluster(environment.files, environment.random, choice, wishes));  // is it this one?
    TRY(local::ensure_owner(context, environment.files, choice));
    TRY(local::ask(context, choice, {.order = local::Order::start}));
    return Ok{};
  }());
}

// The bootstrap machine is made before the others and removed once they have the cluster: never again after that.
Result<bool> bootstrap_is_over(const Environment& environment, const local::ClusterChoice& choice) {
  const auto made = local::list_machines(environment.context, environment.files, choice);
  if (!made.ok() && made.error().code() == Code::not_found) return false;
  const std::vector<local::MachineStatus> machines = TRY(made);
  return !machines.empty() && std::ranges::find(machines, "bootstrap", &local::MachineStatus::name) == machines.end();
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

Result<> remove_bootstrap(const Environment& environment, const LocalGround& ground, const std::string& cluster) {
  const sys::Context& context = environment.context;
  sys::Span span(context.events, context.clock, "step", "bootstrap-machine",
                 {{"description", "the bootstrap machine is removed"}});
  return span.end(destroy_local_bootstrap(environment, ground, cluster));
}

}  // namespace

Result<> create_local_cluster(const Environment& environment, const LocalGround& ground, const assets::Assets& assets,
                              const std::vector<sys::Event>& earlier, FaultWatch& faults, const std::string& folder,
                              bool keep_bootstrap) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = ground.choice(assets.config.name);
  const bool is_handed_over = TRY(bootstrap_is_over(environment, choice));
  TRY(is_handed_over ? start_machines(environment, ground, assets) : make_machines(environment, ground, assets, keep_bootstrap));

  kube::Client api(environment.http, TRY(users_access(assets)));
  BootstrapLog bootstrap;
  ClusterEvents operators(earlier);
  const WhyNot why_not = [&] { return bootstrap.last_failure(); };
  const WhyNot why_no_machine = [&] {
    const auto made = local::list_machines(context, environment.files, choice);
    return made.ok() ? machine_troubles(made.value(), {}) : std::string();
  };
  // A group of its own: it ends with its machine, the others go on.
  sys::TaskGroup listening_to_bootstrap(context);
  sys::TaskGroup listening(context);
  if (!is_handed_over) {
    listening_to_bootstrap.run("events of the bootstrap machine", [&](const sys::Context& c) {
      return bootstrap.follow(c, environment.files, environment.runner, choice);
    });
    listening_to_bootstrap.run("events of the machines", [&](const sys::Context& c) -> Result<> {
      const Result<Json> ended = local::ask(c, choice, {.order = local::Order::hear});
      // Its owner died, and the machines with it: the waits say so, and the same command makes another.
      if (!ended.ok()) c.log.debug("events of the machines: {}", ended.error().message());
      return Ok{};
    });
  }
  listening.run("events of the operators", [&](const sys::Context& c) { return operators.follow(c, api); });
  listening.run("nodes", [&](const sys::Context& c) { return operators.follow_nodes(c, api); });
  listening.run("operators", [&](const sys::Context& c) { return operators.follow_operators(c, api); });
  const Subject subject{assets.config.name, &ground, &assets.config, &api};
  const Result<> waited = while_watched(environment, subject, folder, faults, [&](const sys::Context& watched) -> Result<> {
    TRY(wait_for_all(watched, api, bootstrap_conditions(assets.config), why_not));
    listening_to_bootstrap.request_stop();
    if (keep_bootstrap) {
      context.log.warn("the bootstrap machine stays; `slipway destroy bootstrap --dir {}` removes it", folder);
    } else {
      TRY(remove_bootstrap(environment, ground, assets.config.name));
    }
    return wait_for_all(watched, api, install_conditions(assets.config), why_no_machine);
  });
  listening.request_stop();
  const Result<> heard = listening.wait();
  if (!heard.ok() && heard.error().code() != Code::cancelled)
    context.log.warn("following what the cluster tells: {}", heard.error().message());
  return waited;
}

}  // namespace slipway::cluster
