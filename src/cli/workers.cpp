#include "cli/cluster_commands.h"

#include "base/number.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cluster/workers.h"

#include <functional>

namespace slipway::cli {

namespace {

// Runs `change` on the workers of a directory's cluster, one command at a time.
Result<> change_workers(const Environment& environment, const Arguments& arguments,
                        const std::function<Result<>(const cluster::Workers&)>& change) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  const ClusterDirectory known = TRY(read_cluster_directory(environment, folder));
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  record_events(environment, folder);
  const OpenedProvider opened = TRY(open_own_machines(environment, arguments, known));
  kube::Client api = TRY(client_of(environment, folder));
  Result<> changed = change({*opened, api});
  keep_state_copy(environment, folder);
  return changed;
}

Result<> scale_workers(const Environment& environment, const Arguments& arguments) {
  const std::string& text = arguments["N"];
  const std::optional<int> count = parse_number<int>(text);
  if (!count || *count < 0) return error(Code::invalid, "scale workers: N must be a number of at least 0, got '{}'", text);
  return change_workers(environment, arguments, [&](const cluster::Workers& workers) -> Result<> {
    const cluster::Scaled done = TRY(cluster::scale_workers(environment, workers, *count, arguments.has("--force")));
    if (arguments["--output"] == "json") return Ok{};
    for (const std::string& name : done.removed) environment.print(fmt::format("{} is removed\n", name));
    for (const std::string& name : done.added) environment.print(fmt::format("{} is Ready\n", name));
    if (done.added.empty() && done.removed.empty()) environment.print(fmt::format("The cluster has {} workers.\n", *count));
    return Ok{};
  });
}

Result<> create_worker(const Environment& environment, const Arguments& arguments) {
  return change_workers(environment, arguments, [&](const cluster::Workers& workers) -> Result<> {
    const std::string made = TRY(cluster::create_worker(environment, workers, arguments["NAME"]));
    if (arguments["--output"] != "json") environment.print(fmt::format("{} is Ready\n", made));
    return Ok{};
  });
}

Result<> destroy_worker(const Environment& environment, const Arguments& arguments) {
  return change_workers(environment, arguments, [&](const cluster::Workers& workers) {
    return cluster::destroy_worker(environment, workers, arguments["NAME"], arguments.has("--force"));
  });
}

}  // namespace

Command create_worker_command() {
  return {.words = "create worker",
          .summary = "Add a worker to a cluster of platform local, libvirt, aws or vsphere and wait until it is Ready",
          .positionals = {{.name = "NAME",
                           .value = "NAME",
                           .help = "name of the worker (default: the first unused name of worker-0, worker-1, ...); use the name "
                                   "of an unfinished worker to continue"}},
          .options = {state_of_directory_option(), events_option()},
          .run = create_worker,
          .when_interrupted = "the machine keeps running; run the same command with the name of the worker to continue"};
}

Command destroy_worker_command() {
  return {.words = "destroy worker",
          .summary = "Drain a worker of a cluster of platform local, libvirt, aws or vsphere and remove it",
          .positionals = {{.name = "NAME", .value = "NAME", .help = "name of the worker", .required = true}},
          .options = {{.name = "--force", .value = "", .help = "do not drain it, and lose the data of its volumes"},
                      state_of_directory_option(),
                      events_option()},
          .run = destroy_worker,
          .when_interrupted = "run the same command to remove the rest"};
}

Command scale_workers_command() {
  return {.words = "scale workers",
          .summary = "Add or remove workers of a cluster of platform local, libvirt, aws or vsphere until it has N",
          .positionals = {{.name = "N", .value = "N", .help = "number of workers", .required = true}},
          .options = {{.name = "--force", .value = "", .help = "do not drain workers, and lose the data of volumes"},
                      state_of_directory_option(),
                      events_option()},
          .run = scale_workers,
          .when_interrupted = "machines keep running; run the same command to continue"};
}

}  // namespace slipway::cli
