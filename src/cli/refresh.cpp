// slipway refresh: brings an asset directory in line with the platform and with the cluster.
#include "cli/asset_inputs.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cluster/state_copy.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

// Makes a directory from the copy of the state that is in the cluster.
Result<> restore(const Environment& environment, const std::string& folder, const std::string& kubeconfig) {
  kube::Client api(environment.http, TRY(kube::read_kubeconfig(environment.files, kubeconfig)));
  const std::vector<std::string> written = TRY(cluster::restore_state_copy(environment.context, environment.files, api, folder));
  for (const std::string& path : written) environment.print(fmt::format("{}: written from the cluster\n", path));
  const std::string own = folder + "/auth/kubeconfig";
  if (TRY(environment.files.info(own))) return Ok{};
  return environment.files.write(own, TRY(environment.files.read(kubeconfig)), 0600);
}

Result<> refresh(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  if (arguments.has("--kubeconfig")) {
    TRY(environment.files.make_directories(folder, 0700));
    const sys::FileLock lock = TRY(lock_assets(environment, folder));
    TRY(restore(environment, folder, absolute(arguments["--kubeconfig"])));
  }
  const ClusterDirectory known = TRY(read_cluster_directory(environment, folder));
  if (known.platform.empty()) return error(Code::invalid, "the machines of {} were not created by slipway", known.cluster);
  const OpenedProvider opened = TRY(open_own_machines(environment, arguments, known));
  const provider::plan::Drift drift = TRY(opened->refresh(environment.context));
  for (const std::string& key : drift.gone) environment.print(fmt::format("{}: does not exist any more\n", key));
  for (const std::string& key : drift.unrecorded) environment.print(fmt::format("{}: exists, and was not recorded\n", key));
  if (drift == provider::plan::Drift()) environment.print("The journal and the platform agree.\n");
  keep_state_copy(environment, folder);
  return Ok{};
}

}  // namespace

Command refresh_command() {
  return {
      .words = "refresh",
      .summary = "Compare the journal of resources with the platform and correct it; restore a lost asset directory",
      .options = {{.name = "--kubeconfig",
                   .value = "FILE",
                   .help = "first write the files that the directory lacks, from the copy of the state in the cluster of this "
                           "admin kubeconfig"},
                  state_of_directory_option()},
      .run = refresh,
      .when_interrupted = "run the same command again"};
}

}  // namespace slipway::cli
