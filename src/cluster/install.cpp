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

// Workers boot after the bootstrap machine is removed: no server has a config for them earlier, and Ignition retries only every
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

Result<> create_machines(const Environment& environment, const Installation& installation, Steps& steps) {
  const sys::Context& context = environment.context;
  TRY(assets::check_validity(installation.assets, context.clock.now()).to_result().context("assets cannot be used"));
  const std::vector<provider::Machine> machines = TRY(installation.machines.plan(installation.assets.config));
  const std::vector<provider::MachineGroup> groups = groups_of(machines, installation.assets, installation.keep_bootstrap);
  TRY(installation.machines.preflight(context, installation.request(), groups));
  return steps.run(
      context, Step::machines, [&] { return installation.machines.create(context, installation.request(), groups); },
      fmt::format("{} machines are created", machines.size()));
}

// Starts the machines that exist. Workers may have been added or removed since the installation, so the install-config does not
// list them.
Result<> start_machines(const Environment& environment, const Installation& installation, Steps& steps) {
  const sys::Context& context = environment.context;
  return steps.run(context, Step::machines, [&] { return installation.machines.start(context, installation.request()); });
}

// Whether an earlier run completed the bootstrap. create() creates the bootstrap machine first, so a cluster that has other
// machines but no bootstrap machine has completed the handover. Its bootstrap machine must not be created a second time.
Result<bool> is_bootstrap_removed(const sys::Context& context, provider::Provider& provider) {
  const auto listed = provider.list(context);
  if (!listed.ok() && listed.error().code() == Code::not_found) return false;
  const std::vector<provider::MachineStatus> machines = TRY(listed);
  return !machines.empty() && std::ranges::find(machines, "bootstrap", &provider::MachineStatus::name) == machines.end();
}

}  // namespace

Result<provider::plan::Preview> preview(const sys::Context& context, provider::Provider& machines,
                                        const provider::ClusterRequest& request, const assets::Assets& assets) {
  return machines.preview(context, request, groups_of(TRY(machines.plan(assets.config)), assets, false));
}

Result<> install(const Environment& environment, const Installation& installation, FaultWatch& faults, Steps& steps) {
  const sys::Context& context = environment.context;
  const bool has_bootstrapped = TRY(is_bootstrap_removed(context, installation.machines));
  TRY(has_bootstrapped ? start_machines(environment, installation, steps) : create_machines(environment, installation, steps));

  BootstrapLog bootstrap_log;
  ClusterEvents cluster_events(installation.earlier);
  // The cause first, when it is known.
  const auto with_cause = [&](std::string detail) {
    const std::string cause = faults.causes().sentence();
    return cause.empty() || detail.empty() ? cause + detail : fmt::format("{}; {}", cause, detail);
  };
  const DelayReason bootstrap_failure = [&] { return with_cause(bootstrap_log.last_failure()); };
  const DelayReason machine_reasons = [&] {
    const auto machines = installation.machines.list(context);
    return with_cause(machines.ok() ? machine_problems(machines.value(), {}) : std::string());
  };
  // These watches are in a separate group because they stop earlier than the others: before the bootstrap machine is removed.
  sys::TaskGroup bootstrap_watches(context);
  sys::TaskGroup watches(context);
  if (!has_bootstrapped) {
    bootstrap_watches.run("events of the bootstrap machine",
                          [&](const sys::Context& c) { return bootstrap_log.follow(c, installation.machines); });
    bootstrap_watches.run("events of the machines", [&](const sys::Context& c) -> Result<> {
      const Result<> ended = installation.machines.follow(c);
      // The process that runs the machines has ended, and the machines with it. The waits report that; the same command starts
      // the machines again.
      if (!ended.ok()) c.log.debug("events of the machines: {}", ended.error().message());
      return Ok{};
    });
  }
  watches.run("events of the operators", [&](const sys::Context& c) { return cluster_events.follow(c, installation.api); });
  watches.run("nodes", [&](const sys::Context& c) { return cluster_events.follow_nodes(c, installation.api); });
  watches.run("operators", [&](const sys::Context& c) { return cluster_events.follow_operators(c, installation.api); });
  steps.set_pace(TRY(installation.machines.pace(context)));
  steps.set_image_mode(installation.assets.config.image_mode);
  const Subject subject{.machines = &installation.machines,
                        .config = &installation.assets.config,
                        .api = &installation.api,
                        .secrets = assets::known_secrets(environment.files, installation.folder)};
  const Result<> result =
      while_watched(environment, subject, installation.folder, faults, [&](const sys::Context& watched) -> Result<> {
        TRY(wait_for_all(watched, installation.api, bootstrap_conditions(installation.assets.config), bootstrap_failure, steps));
        bootstrap_watches.request_stop();
        if (installation.keep_bootstrap) {
          context.log.warn("the bootstrap machine is kept (to remove it, run `slipway destroy bootstrap --dir {}`)",
                           installation.folder);
        } else {
          TRY(steps.run(context, Step::bootstrap_machine, [&] { return installation.machines.remove(context, "bootstrap"); }));
        }
        return wait_for_all(watched, installation.api, install_conditions(installation.assets.config), machine_reasons, steps);
      });
  watches.request_stop();
  const Result<> ended = watches.wait();
  if (!ended.ok() && ended.error().code() != Code::cancelled)
    context.log.warn("watching events of the cluster: {}", ended.error().message());
  return result;
}

}  // namespace slipway::cluster
