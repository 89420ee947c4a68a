#include "cluster/install.h"

#include "cluster/bootstrap_log.h"
#include "cluster/cluster_events.h"
#include "cluster/fault_watch.h"
#include "cluster/gather.h"
#include "cluster/planned_nodes.h"
#include "cluster/ready.h"

#include "assets/preview/known_secrets.h"
#include "assets/tls/validity.h"
#include "ignition/parse.h"
#include "sys/events.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

std::vector<std::string> names_of(const std::vector<provider::Machine>& machines, std::string_view role) {
  std::vector<std::string> names;
  for (const provider::Machine& machine : machines) {
    if (machine.role == role) names.push_back(machine.name);
  }
  return names;
}

// Workers boot after the bootstrap machine is removed: before that no server has a config for them, and Ignition asks only every
// five seconds.
std::vector<provider::MachineGroup> groups_of(const std::vector<provider::Machine>& machines, const assets::Assets& assets,
                                              bool keep_bootstrap) {
  std::vector<provider::MachineGroup> groups;
  const auto add = [&](std::string_view role, const ignition::Config& config, std::string after) {
    std::vector<std::string> names = names_of(machines, role);
    if (names.empty()) return;
    groups.push_back({.role = std::string(role),
                      .names = std::move(names),
                      .ignition = emit_json(ignition::to_json(config), JsonStyle::compact),
                      .after = std::move(after)});
  };
  add("bootstrap", assets.bootstrap, "");
  add("master", assets.master, "");
  add("worker", assets.worker, keep_bootstrap ? "" : "bootstrap");
  return groups;
}

Result<> create_machines(const Environment& environment, const Installation& of, Steps& steps) {
  const sys::Context& context = environment.context;
  TRY(assets::check_validity(of.assets, context.clock.now()).to_result().context("assets cannot be used"));
  const std::vector<provider::Machine> machines = TRY(of.machines.plan(of.assets.config));
  const std::vector<provider::MachineGroup> groups = groups_of(machines, of.assets, of.keep_bootstrap);
  TRY(of.machines.preflight(context, of.request(), groups));
  return steps.run(
      context, Step::machines, [&] { return of.machines.create(context, of.request(), groups); },
      fmt::format("{} machines are created", machines.size()));
}

// The cluster has its machines, and people may have added workers to those that the install-config began with, or removed some.
Result<> start_machines(const Environment& environment, const Installation& of, Steps& steps) {
  const sys::Context& context = environment.context;
  return steps.run(context, Step::machines, [&] { return of.machines.start(context, of.request()); });
}

// The bootstrap machine is created before the others and removed when they have the cluster; it is never created again after
// that.
Result<bool> bootstrap_is_over(const sys::Context& context, provider::Provider& provider) {
  const auto made = provider.list(context);
  if (!made.ok() && made.error().code() == Code::not_found) return false;
  const std::vector<provider::MachineStatus> machines = TRY(made);
  return !machines.empty() && std::ranges::find(machines, "bootstrap", &provider::MachineStatus::name) == machines.end();
}

}  // namespace

Result<> install(const Environment& environment, const Installation& of, FaultWatch& faults, Steps& steps) {
  const sys::Context& context = environment.context;
  const bool is_handed_over = TRY(bootstrap_is_over(context, of.machines));
  TRY(is_handed_over ? start_machines(environment, of, steps) : create_machines(environment, of, steps));

  BootstrapLog bootstrap;
  ClusterEvents operators(of.earlier);
  const WhyNot why_not = [&] { return bootstrap.last_failure(); };
  const WhyNot why_no_machine = [&] {
    const auto made = of.machines.list(context);
    return made.ok() ? machine_troubles(made.value(), {}) : std::string();
  };
  // A group of its own: it ends with its machine, the others go on.
  sys::TaskGroup listening_to_bootstrap(context);
  sys::TaskGroup listening(context);
  if (!is_handed_over) {
    listening_to_bootstrap.run("events of the bootstrap machine",
                               [&](const sys::Context& c) { return bootstrap.follow(c, of.machines); });
    listening_to_bootstrap.run("events of the machines", [&](const sys::Context& c) -> Result<> {
      const Result<> ended = of.machines.follow(c);
      // What made the machines ended, and the machines with it: the waits say so, and the same command starts them again.
      if (!ended.ok()) c.log.debug("events of the machines: {}", ended.error().message());
      return Ok{};
    });
  }
  listening.run("events of the operators", [&](const sys::Context& c) { return operators.follow(c, of.api); });
  listening.run("nodes", [&](const sys::Context& c) { return operators.follow_nodes(c, of.api); });
  listening.run("operators", [&](const sys::Context& c) { return operators.follow_operators(c, of.api); });
  const Subject subject{.machines = &of.machines,
                        .config = &of.assets.config,
                        .api = &of.api,
                        .secrets = assets::known_secrets(environment.files, of.folder)};
  const Result<> waited = while_watched(environment, subject, of.folder, faults, [&](const sys::Context& watched) -> Result<> {
    TRY(wait_for_all(watched, of.api, bootstrap_conditions(of.assets.config), why_not, steps));
    listening_to_bootstrap.request_stop();
    if (of.keep_bootstrap) {
      context.log.warn("the bootstrap machine is kept (to remove it, run `slipway destroy bootstrap --dir {}`)", of.folder);
    } else {
      TRY(steps.run(context, Step::bootstrap_machine, [&] { return of.machines.remove(context, "bootstrap"); }));
    }
    return wait_for_all(watched, of.api, install_conditions(of.assets.config), why_no_machine, steps);
  });
  listening.request_stop();
  const Result<> heard = listening.wait();
  if (!heard.ok() && heard.error().code() != Code::cancelled)
    context.log.warn("watching events of the cluster: {}", heard.error().message());
  return waited;
}

}  // namespace slipway::cluster
