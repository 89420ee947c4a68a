#include "cluster/backup.h"

#include "base/text.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cli/masters.h"
#include "net/age.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

Result<> backup(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  if (arguments.has("--host") && !arguments.has("--master"))
    return error(Code::invalid, "--host: needs --master NAME, the node that has the address");
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was created from this directory yet"));
  std::map<std::string, std::string> hosts;
  if (arguments.has("--host")) hosts[arguments["--master"]] = arguments["--host"];
  MastersAccess masters;
  TRY(open_masters(environment, arguments, folder, std::move(hosts), masters));
  const std::string target = arguments.has("--to") ? absolute(arguments["--to"]) : folder + "/backup";
  const cluster::BackupRequest request{.folder = target,
                                       .master = arguments["--master"],
                                       .is_forced = arguments.has("--force"),
                                       .recipients = arguments.list("--encrypt-to")};
  for (const std::string& recipient : request.recipients) TRY(net::check_age_recipient(recipient).context("--encrypt-to"));
  const cluster::Backup taken = TRY(cluster::take_backup(environment, api, request, masters.run));
  environment.print(fmt::format("Snapshot:  {}\nResources: {}\nMaster:    {}\nRevision:  {}\nKeys:      {}\nSize:      {}\n",
                                taken.snapshot, taken.resources, taken.master.name, taken.status.revision, taken.status.keys,
                                human_size(taken.status.size)));
  if (!request.recipients.empty()) return Ok{};
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
                      key_option(),
                      {.name = "--encrypt-to",
                       .value = "KEY",
                       .help = "public key of age, age1...; the files are encrypted",
                       .repeats = true},
                      {.name = "--force", .help = "take it although the control plane is being changed; it may be unusable"},
                      state_of_directory_option()},
          .run = backup,
          .when_interrupted = "no backup was written; run the same command again"};
}

}  // namespace slipway::cli
