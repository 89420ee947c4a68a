#include "cli/wait_for.h"

#include "assets/preview/known_secrets.h"
#include "assets/store.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/installing.h"
#include "cli/local_options.h"

namespace slipway::cli {

namespace {

Result<> wait_for(const Environment& environment, const Arguments& arguments, const std::string& folder,
                  std::vector<cluster::Condition> (*conditions)(const config::InstallConfig&)) {
  print_events(environment, arguments);
  const config::InstallConfig config = TRY(read_config(environment, folder));
  return wait_for_conditions(environment, arguments, folder, config, conditions(config));
}

Result<> wait_for_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  warn_if_expired(environment, folder);
  TRY(wait_for(environment, arguments, folder, cluster::bootstrap_conditions));
  if (arguments["--output"] != "json") {
    environment.print(
        fmt::format("The bootstrap machine is no longer needed. To remove it: {} destroy bootstrap\n", environment.program));
  }
  return Ok{};
}

Result<> wait_for_install(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  TRY(wait_for(environment, arguments, folder, cluster::install_conditions));
  return finish_installation(environment, folder);
}

}  // namespace

void warn_if_expired(const Environment& environment, const std::string& folder) {
  const auto end = assets::usable_until(environment.files, folder);
  if (!end.ok() || !end.value() || end.value()->until > environment.context.clock.now()) return;
  environment.context.log.warn(
      "Ignition configs in {}: expired at {} with certificate {}; machines that start now cannot join (create new configs in "
      "another directory)",
      folder, to_rfc3339(end.value()->until), end.value()->certificate);
}

Result<> wait_for_conditions(const Environment& environment, const Arguments& arguments, const std::string& folder,
                             const config::InstallConfig& config, const std::vector<cluster::Condition>& conditions) {
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was created from this directory yet"));
  OpenedProvider machines;
  int pace = 1;
  if (provider::has_provider(config.platform.type) && TRY(has_own_machines(environment, folder))) {
    machines = TRY(open_machines(environment, arguments, new_cluster_directory(environment, folder, config)));
    if (!machines->list(environment.context).ok()) machines.reset();
    if (machines) pace = TRY(machines->pace(environment.context));
  }
  const cluster::Subject subject{
      .machines = machines.get(), .config = &config, .api = &api, .secrets = assets::known_secrets(environment.files, folder)};
  return installing(environment, folder, [&](cluster::FaultWatch& faults, cluster::Steps& steps) {
    steps.set_pace(pace);
    steps.set_image_mode(config.image_mode);
    return cluster::while_watched(environment, subject, folder, faults, [&](const sys::Context& watched) {
      return cluster::wait_for_all(
          watched, api, conditions, [&] { return faults.causes().sentence(); }, steps);
    });
  });
}

Result<> finish_installation(const Environment& environment, const std::string& folder) {
  TRY(trust_routers(environment, folder));
  environment.context.log.info("install complete; to use the cluster: export KUBECONFIG={}/auth/kubeconfig", folder);
  warn_about_ignored_settings(environment, folder);
  return log_console(environment, folder);
}

Command wait_for_bootstrap_command() {
  return {.words = "wait-for bootstrap-complete",
          .summary = "Wait until the control plane runs on its own machines and the bootstrap machine is no longer needed",
          .options = {state_of_directory_option(), events_option()},
          .run = wait_for_bootstrap,
          .when_interrupted = waiting_interrupted};
}

Command wait_for_install_command() {
  return {.words = "wait-for install-complete",
          .summary = "Wait until nodes are Ready, ClusterOperators are Available and the release is installed",
          .options = {state_of_directory_option(), events_option()},
          .run = wait_for_install,
          .when_interrupted = waiting_interrupted};
}

}  // namespace slipway::cli
