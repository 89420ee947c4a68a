#include "cluster/backup.h"

#include "base/text.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

// By SSH, where the provider cannot run commands.
cluster::RunOnMaster by_ssh(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  std::vector<std::string> keys;
  for (const std::string& key : arguments.list("--key")) keys.push_back(absolute(key));
  const std::string wanted = arguments["--host"], known_hosts = folder + "/.slipway/known_hosts";
  return [&environment, keys, wanted, known_hosts](const sys::Context& context, const cluster::Master& master,
                                                   sys::Command command) -> Result<sys::Output> {
    const std::string& host = wanted.empty() ? master.address : wanted;
    if (host.empty()) return error(Code::not_found, "no address is known (use --master NAME --host ADDRESS)");
    command.argv = cluster::root_command_by_ssh(host, keys, known_hosts, command.argv);
    return environment.runner.run(context, command);
  };
}

Result<> backup(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  if (arguments.has("--host") && !arguments.has("--master"))
    return error(Code::invalid, "--host: needs --master NAME, the node that has the address");
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was created from this directory yet"));
  OpenedProvider machines;
  if (TRY(has_own_machines(environment, folder)))
    machines = TRY(open_own_machines(environment, arguments, TRY(read_cluster_directory(environment, folder))));
  cluster::RunOnMaster run = by_ssh(environment, arguments, folder);
  if (machines && machines->capabilities().runs_commands) {
    if (arguments.has("--host") || !arguments.list("--key").empty())
      return error(Code::invalid, "--host and --key: have no effect, because the machines are local");
    run = [&machines](const sys::Context& context, const cluster::Master& master, sys::Command command) {
      return machines->run(context, master.name, std::move(command));
    };
  }
  const std::string target = arguments.has("--to") ? absolute(arguments["--to"]) : folder + "/backup";
  const cluster::BackupRequest request{.folder = target, .master = arguments["--master"], .is_forced = arguments.has("--force")};
  const cluster::Backup taken = TRY(cluster::take_backup(environment, api, request, run));
  environment.print(fmt::format("Snapshot:  {}\nResources: {}\nMaster:    {}\nRevision:  {}\nKeys:      {}\nSize:      {}\n",
                                taken.snapshot, taken.resources, taken.master.name, taken.status.revision, taken.status.keys,
                                human_size(taken.status.size)));
  environment.context.log.warn(
      "the files contain all Secrets of the cluster and private keys of its control plane; keep them as safe as those");
  return Ok{};
}

}  // namespace

Command backup_command() {
  return {.words = "backup",
          .summary = "Take a backup of etcd and of the static pods of a running cluster",
          .options = {{.name = "--to", .value = "FOLDER", .help = "where the files are written (default: DIR/backup)"},
                      {.name = "--master", .value = "NAME", .help = "the master to use (default: the first that is ready)"},
                      {.name = "--host",
                       .value = "HOST",
                       .help = "SSH address of that master, if machines are not local (default: its InternalIP)"},
                      {.name = "--key", .value = "FILE", .help = "private SSH key of user core", .repeats = true},
                      {.name = "--force", .help = "take it although the control plane is being changed; it may be unusable"},
                      state_of_directory_option()},
          .run = backup,
          .when_interrupted = "no backup was written; run the same command again"};
}

}  // namespace slipway::cli
