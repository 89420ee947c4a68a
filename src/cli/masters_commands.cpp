#include "base/text.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cluster/change_masters.h"

namespace slipway::cli {

namespace {

// Makes a change of the masters of a directory's cluster, one command at a time.
Result<> change(const Environment& environment, const Arguments& arguments, const cluster::MastersChange& wanted,
                bool is_addition) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  const ClusterDirectory known = TRY(read_cluster_directory(environment, folder));
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was created from this directory yet"));
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  record_events(environment, folder);
  OpenedProvider machines;
  if (TRY(has_own_machines(environment, folder))) machines = TRY(open_own_machines(environment, arguments, known));
  const bool makes_masters = machines && machines->capabilities().adds_masters;
  const cluster::MastersPlace place{
      .api = api, .machines = makes_masters ? machines.get() : nullptr, .may_drain = !arguments.has("--force")};
  const cluster::MastersChange made = TRY(cluster::change_masters(environment, place, wanted, is_addition));
  if (arguments["--output"] == "json") return Ok{};
  if (!made.removed.empty()) environment.print(fmt::format("{} was removed\n", made.removed));
  if (!made.added.empty()) environment.print(fmt::format("{} is a master, and votes in etcd\n", made.added));
  return Ok{};
}

Result<> replace_master(const Environment& environment, const Arguments& arguments) {
  const std::string& name = arguments["NAME"];
  return change(environment, arguments, {.removed = name, .added = arguments.has("--by") ? arguments["--by"] : name}, false);
}

Result<> create_master(const Environment& environment, const Arguments& arguments) {
  return change(environment, arguments, {.removed = {}, .added = arguments["NAME"]}, true);
}

Result<> destroy_master(const Environment& environment, const Arguments& arguments) {
  return change(environment, arguments, {.removed = arguments["NAME"], .added = {}}, false);
}

Option force_option() { return {.name = "--force", .value = "", .help = "do not drain the master that is removed"}; }

}  // namespace

Command replace_master_command() {
  return {.words = "replace master",
          .summary = "Replace a master by a new machine and wait until it votes in etcd",
          .positionals = {{.name = "NAME", .value = "NAME", .help = "name of the master that is removed", .required = true}},
          .options = {{.name = "--by", .value = "NEW", .help = "name of the new master (default: that of the removed one)"},
                      force_option(),
                      state_of_directory_option(),
                      events_option()},
          .run = replace_master,
          .when_interrupted = "run the same command again to continue"};
}

Command create_master_command() {
  return {.words = "create master",
          .summary = "Add a master to a cluster and wait until it votes in etcd",
          .positionals = {{.name = "NAME",
                           .value = "NAME",
                           .help = "name of the master (default: the first unused name of master-0, master-1, ..., or that of an "
                                   "unfinished one)"}},
          .options = {state_of_directory_option(), events_option()},
          .run = create_master,
          .when_interrupted = "run the same command again to continue"};
}

Command destroy_master_command() {
  return {.words = "destroy master",
          .summary = "Remove a master of a cluster that has more than controlPlane.replicas",
          .positionals = {{.name = "NAME", .value = "NAME", .help = "name of the master", .required = true}},
          .options = {force_option(), state_of_directory_option(), events_option()},
          .run = destroy_master,
          .when_interrupted = "run the same command again to remove the rest"};
}

}  // namespace slipway::cli
