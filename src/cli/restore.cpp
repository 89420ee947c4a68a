#include "cluster/restore.h"

#include "backup/backup_set.h"
#include "base/text.h"
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cli/masters.h"
#include "cli/terminal.h"
#include "net/age.h"
#include "sys/lock.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace slipway::cli {

namespace {

// "NAME=ADDRESS" of --host.
Result<std::map<std::string, std::string>> parse_hosts(const std::vector<std::string>& values) {
  std::map<std::string, std::string> hosts;
  for (const std::string& value : values) {
    const std::size_t sign = value.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == value.size())
      return error(Code::invalid, "--host: '{}' is not NAME=ADDRESS", value);
    hosts[value.substr(0, sign)] = value.substr(sign + 1);
  }
  return hosts;
}

Result<cluster::BackupFiles> find_backup(const Environment& environment, const std::string& path) {
  const auto info = TRY(environment.files.info(path));
  if (!info) return error(Code::not_found, "{}: does not exist", path);
  if (info->kind == sys::FileKind::directory) return cluster::choose_backup(path, "", TRY(environment.files.list(path)));
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = path.substr(0, slash);
  return cluster::choose_backup(folder, path.substr(slash + 1), TRY(environment.files.list(folder)));
}

// Plain files of the backup: encrypted ones are decrypted into the folder of the restore.
Result<cluster::BackupFiles> open_backup(const Environment& environment, const cluster::BackupFiles& files,
                                         const std::string& identity, const std::string& folder) {
  if (!files.is_encrypted()) return files;
  if (identity.empty())
    return error(Code::invalid, "{}: is encrypted (use --identity FILE, with the private key)", files.snapshot);
  const Secret identities(TRY(environment.files.read(absolute(identity))));
  TRY(environment.files.make_directories(folder, 0700));
  cluster::BackupFiles plain{files.id, folder + "/snapshot.db", folder + "/resources.tar.gz"};
  TRY(net::decrypt_file(environment.files, files.snapshot, plain.snapshot, identities));
  TRY(net::decrypt_file(environment.files, files.resources, plain.resources, identities));
  return plain;
}

Result<std::vector<cluster::MasterOfBackup>> read_masters(const Environment& environment, const std::string& resources) {
  const std::string text = TRY(sys::run_checked(
      environment.runner, environment.context,
      {.argv = {"tar", "--extract", "--gzip", "--to-stdout", "--file", resources, "etcd-members.json"}, .limit = Seconds(60)}));
  return cluster::parse_members(text);
}

Result<std::string> read_authorities(const Environment& environment, const std::string& resources) {
  return sys::run_checked(environment.runner, environment.context,
                          {.argv = {"tar", "--extract", "--gzip", "--to-stdout", "--wildcards", "--file", resources,
                                    "static-pod-resources/etcd-pod-*/configmaps/etcd-all-bundles/server-ca-bundle.crt"},
                           .limit = Seconds(60)});
}

// Takes lost masters out of the list.
Result<> leave_out(const std::vector<std::string>& lost, std::vector<cluster::MasterOfBackup>& masters) {
  for (const std::string& name : lost) {
    if (std::erase_if(masters, [&](const cluster::MasterOfBackup& it) { return it.name == name; }) == 0)
      return error(Code::invalid, "--lost: {} is not a master of the backup", name);
  }
  if (masters.empty()) return error(Code::invalid, "--lost: no master is left");
  return Ok{};
}

std::string names_of(const std::vector<cluster::MasterOfBackup>& masters) {
  std::vector<std::string> names;
  for (const cluster::MasterOfBackup& master : masters) names.push_back(master.name);
  return join(names, ", ");
}

// The backup of a survivor: of the restore that is not finished, otherwise a new one.
Result<cluster::BackupFiles> backup_of_survivor(const Environment& environment, const std::string& folder,
                                                const std::string& work, const std::string& survivor,
                                                const cluster::RunOnMaster& run) {
  const std::string backups = folder + "/backup";
  if (const std::optional<std::string> id = TRY(cluster::unfinished_backup(environment.files, work)))
    return cluster::choose_backup(backups, backup::snapshot_name(*id), TRY(environment.files.list(backups)));
  const cluster::Backup taken = TRY(cluster::take_survivor_backup(environment, backups, {.name = survivor, .address = {}}, run));
  const std::size_t slash = taken.snapshot.find_last_of('/');
  return cluster::choose_backup(backups, taken.snapshot.substr(slash + 1), TRY(environment.files.list(backups)));
}

// All masters but the survivor are lost. Those that answer must be named: their etcd may have what the survivor does not have.
Result<> give_up_others(const Environment& environment, const std::vector<std::string>& named, const std::string& survivor,
                        const cluster::RunOnMaster& run, cluster::RestoreRequest& request) {
  std::vector<cluster::MasterOfBackup> others;
  for (const std::string& name : named) {
    if (name == survivor || std::ranges::find(request.masters, name, &cluster::MasterOfBackup::name) == request.masters.end())
      return error(Code::invalid, "--lost: {} is not another master of the cluster: {}", name, names_of(request.masters));
  }
  for (const cluster::MasterOfBackup& master : request.masters) {
    if (master.name == survivor) continue;
    request.lost.push_back(master.name);
    if (std::ranges::find(named, master.name) == named.end()) others.push_back(master);
  }
  if (request.lost.size() == request.masters.size())
    return error(Code::invalid, "--survivor: {} is not a member of its etcd: {}", survivor, join(request.lost, ", "));
  const std::vector<std::string> answering = TRY(cluster::answering_masters(environment, others, run));
  if (!answering.empty())
    return error(
        Code::conflict,
        "{}: answers, so it is not lost, and its etcd may have newer data (start etcd there instead; to give it up, switch "
        "it off, or use --lost {})",
        join(answering, ", "), answering.front());
  return leave_out(request.lost, request.masters);
}

std::string table_of_stages() {
  std::size_t name_width = 0, machines_width = 0;
  for (const cluster::RestoreStage& stage : cluster::restore_stages()) {
    name_width = std::max(name_width, stage.name.size());
    machines_width = std::max(machines_width, stage.machines.size());
  }
  std::string text;
  for (const cluster::RestoreStage& stage : cluster::restore_stages())
    text += fmt::format("  {:{}}  {:{}}  {}\n", stage.name, name_width, stage.machines, machines_width, stage.what);
  return text;
}

Result<> confirm(const Environment& environment, const Arguments& arguments, const std::string& cluster,
                 const cluster::RestoreRequest& request, const cluster::RestoreCheck& check) {
  if (!request.lost.empty()) show(fmt::format("Lost for ever:    {}\n", join(request.lost, ", ")));
  show(fmt::format(
      "Cluster:          {}\nBackup:           {}, revision {}, {} keys\nMasters:          {}\nRecovery master:  {}\n\n"
      "Stages:\n{}\n"
      "THE CLUSTER GOES BACK TO THE BACKUP. Everything that was created, changed or deleted in it since then is lost.\n"
      "Its API is not available meanwhile; applications keep running. A master that is not in the list must stay off\n"
      "until its disk is empty.\n",
      cluster, request.files.id, check.snapshot.revision, check.snapshot.keys, names_of(request.masters), request.recovery,
      table_of_stages()));
  if (arguments.has("--yes")) return Ok{};
  if (!is_at_terminal())
    return error(Code::invalid, "standard input is not a terminal (use --yes to restore without a question)");
  const std::optional<std::string> line =
      TRY(read_line(environment.context.stop, fmt::format("Type the name of the cluster to restore it: "), false));
  if (line && *line == cluster) return Ok{};
  return error(Code::cancelled, "nothing was changed: '{}' is not the name of the cluster", line.value_or(""));
}

struct PlannedRestore {
  cluster::RestoreRequest request;
  cluster::RestoreCheck check;
};

// Checks everything and asks the user. Changes nothing.
Result<PlannedRestore> plan_restore(const Environment& environment, const Arguments& arguments, const std::string& cluster,
                                    const std::string& work, const cluster::BackupFiles& found, const cluster::RunOnMaster& run) {
  cluster::RestoreRequest request{.folder = work};
  request.files = TRY(open_backup(environment, found, arguments["--identity"], work + "-files"));
  request.masters = TRY(read_masters(environment, request.files.resources));
  request.authorities = TRY(read_authorities(environment, request.files.resources));
  const std::string& survivor = arguments["--survivor"];
  if (survivor.empty()) {
    request.lost = arguments.list("--lost");
    TRY(leave_out(request.lost, request.masters));
  } else {
    request.is_of_survivor = true;
    TRY(give_up_others(environment, arguments.list("--lost"), survivor, run, request));
  }
  request.recovery = arguments.has("--master") ? arguments["--master"] : request.masters.front().name;
  if (std::ranges::find(request.masters, request.recovery, &cluster::MasterOfBackup::name) == request.masters.end())
    return error(Code::invalid, "--master: {} is not one of {}", request.recovery, names_of(request.masters));
  cluster::RestoreCheck check = TRY(cluster::check_restore(environment, request, run));
  TRY(confirm(environment, arguments, cluster, request, check));
  return PlannedRestore{std::move(request), std::move(check)};
}

Result<> restore(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]), work = folder + "/.slipway/restore";
  const ClusterDirectory known = TRY(read_cluster_directory(environment, folder));
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was created from this directory yet"));
  std::map<std::string, std::string> hosts = TRY(parse_hosts(arguments.list("--host")));
  TRY(environment.files.make_directories(folder + "/.slipway", 0700));
  const sys::FileLock lock = TRY(sys::FileLock::acquire(folder + "/.slipway/restore.lock", "restore of " + known.cluster));
  const std::string& survivor = arguments["--survivor"];
  if (!survivor.empty() && (arguments.has("--from") || arguments.has("--master")))
    return error(Code::invalid,
                 "--survivor: its data are the backup, and it is the recovery master (leave out --from and --master)");
  MastersAccess masters;
  TRY(open_masters(environment, arguments, folder, std::move(hosts), masters));
  const bool takes_backup = !survivor.empty() && !TRY(cluster::unfinished_backup(environment.files, work));
  const cluster::BackupFiles found =
      survivor.empty()
          ? TRY(find_backup(environment, arguments.has("--from") ? absolute(arguments["--from"]) : folder + "/backup"))
          : TRY(backup_of_survivor(environment, folder, work, survivor, masters.run));
  const Result<PlannedRestore> planned = plan_restore(environment, arguments, known.cluster, work, found, masters.run);
  if (!planned.ok()) {
    for (const std::string& file : {found.snapshot, found.resources}) {
      if (takes_backup) TRY(environment.files.remove(file));
    }
    return planned.error();
  }
  const PlannedRestore& plan = planned.value();
  TRY(cluster::restore(environment, api, plan.request, plan.check, masters.run));
  TRY(environment.files.remove(work + "-files"));
  environment.print(fmt::format("Cluster {} is back at backup {}.\n", known.cluster, plan.request.files.id));
  return Ok{};
}

}  // namespace

Command restore_command() {
  return {.words = "restore",
          .summary = "Bring the control plane of a cluster back to a backup",
          .options =
              {{.name = "--survivor",
                .value = "NAME",
                .help = "the one master that is left: restore from its own data, without a backup; the others are lost"},
               {.name = "--from", .value = "PATH", .help = "folder of backups, or a snapshot file (default: DIR/backup)"},
               {.name = "--identity", .value = "FILE", .help = "private key of age, of an encrypted backup"},
               {.name = "--master", .value = "NAME", .help = "the recovery master (default: the first that is not lost)"},
               {.name = "--lost", .value = "NAME", .help = "a master that is gone for good; it must stay off", .repeats = true},
               {.name = "--host",
                .value = "NAME=ADDRESS",
                .help = "SSH address of a master, if machines are not local (default: that of its etcd)",
                .repeats = true},
               key_option(),
               {.name = "--yes", .help = "do not ask"},
               state_of_directory_option()},
          .run = restore,
          .when_interrupted = "the control plane may be stopped; run the same command again to continue"};
}

}  // namespace slipway::cli
