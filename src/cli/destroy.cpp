#include "cli/cluster_commands.h"

#include "assets/store.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_directory.h"
#include "cli/image/registry_files.h"
#include "cli/local_options.h"

#include <algorithm>
#include <iterator>

namespace slipway::cli {

namespace {

Result<> destroy_bootstrap(const Environment& environment, const Arguments& arguments) {
  const ClusterDirectory known = TRY(read_cluster_directory(environment, absolute(arguments["--dir"])));
  const OpenedProvider opened = TRY(open_own_machines(environment, arguments, known));
  return opened->remove(environment.context, "bootstrap");
}

// errors: those of the provider
Result<> destroy_machines(const Environment& environment, const Arguments& arguments, const ClusterDirectory& known) {
  if (known.platform.empty()) {
    environment.context.log.warn("the machines of {} were not created by this program; only files in {} are removed",
                                 known.cluster, known.folder);
    return Ok{};
  }
  const OpenedProvider opened = TRY(open_machines(environment, arguments, known));
  const provider::ExistingCluster existing = TRY(find_machines(*opened, known));
  if (existing.of == provider::ExistingCluster::Of::another_cluster) {
    environment.context.log.warn(
        "cluster {} in {}: created from another asset directory, not removed; only files in {} are removed", known.cluster,
        opened->place(), known.folder);
    return Ok{};
  }
  if (existing.of == provider::ExistingCluster::Of::nothing) {
    environment.context.log.warn("no machines of {} found in {}; only files in {} are removed", known.cluster, opened->place(),
                                 known.folder);
  }
  return opened->remove_all(environment.context);
}

// The resources that `destroy cluster` would remove, in its order.
Result<> show_resources(const Environment& environment, const Arguments& arguments, const ClusterDirectory& known) {
  if (known.platform.empty())
    return error(Code::invalid, "--dry-run: {} has no cluster whose machines slipway created", known.folder);
  const OpenedProvider opened = TRY(open_machines(environment, arguments, known));
  for (const provider::plan::Found& found : TRY(opened->resources(environment.context))) {
    environment.print(found.place.empty() ? found.key() + "\n" : fmt::format("{} in {}\n", found.key(), found.place));
  }
  return Ok{};
}

Result<> destroy_cluster(const Environment& environment, const Arguments& arguments) {
  const std::optional<ClusterDirectory> named = TRY(named_cluster(environment, arguments));
  const std::string folder = absolute(arguments["--dir"]);
  const ClusterDirectory known = named ? *named : TRY(read_cluster_directory(environment, folder));
  if (arguments.has("--dry-run")) return show_resources(environment, arguments, known);
  TRY(destroy_machines(environment, arguments, known));
  const bool has_files = TRY(environment.files.info(folder + "/metadata.json")).has_value();
  if (named && !has_files) return Ok{};
  // The install-config is kept: the same command line creates a new cluster. metadata.json is deleted last, because it identifies
  // the cluster.
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  TRY(remove_registry_files(environment.files, folder));
  TRY(environment.files.remove(events_path(folder)));
  TRY(environment.files.remove(machines_path(folder)));
  TRY(environment.files.remove(expiry_path(folder)));
  return assets::forget(environment.files, folder);
}

constexpr const char* destroying_interrupted = "run the same command to remove the rest";

}  // namespace

Command destroy_bootstrap_command() {
  return {.words = "destroy bootstrap",
          .summary = "Remove the bootstrap machine",
          .options = {state_of_directory_option()},
          .run = destroy_bootstrap,
          .when_interrupted = destroying_interrupted};
}

Command destroy_cluster_command() {
  Command command{.words = "destroy cluster",
                  .summary = "Remove the cluster and all generated files except install-config.yaml",
                  .options = {{.name = "--dry-run", .value = "", .help = "only list the resources that would be removed"},
                              {.name = "--infra-id",
                               .value = "ID",
                               .help = "cluster without an asset directory, for example demo-x7k2p; needs --platform"},
                              state_of_directory_option()},
                  .run = destroy_cluster,
                  .when_interrupted = destroying_interrupted};
  std::ranges::move(place_options(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
