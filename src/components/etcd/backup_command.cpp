#include "components/etcd/backup_command.h"

#include "backup/snapshot.h"
#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "data/data.h"
#include "net/age.h"
#include "sys/environment_variable.h"
#include "sys/lock.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace slipway::components::etcd {

namespace {

constexpr std::string_view command_name = "cluster-etcd-operator backup";
constexpr Milliseconds longest_snapshot = Seconds(15 * 60);
constexpr std::string_view unfinished = ".new";

// The sets of a folder; everything else in it is no backup.
Result<std::vector<backup::BackupSet>> list_sets(sys::Files& files, const std::string& folder) {
  std::vector<backup::BackupSet> sets;
  for (const std::string& id : TRY(files.list(folder))) {
    if (!backup::is_backup_id(id)) continue;
    backup::BackupSet set{.id = id};
    const std::string path = fmt::format("{}/{}", folder, id);
    for (const std::string& name : TRY(files.list(path))) {
      if (const auto info = TRY(files.info(fmt::format("{}/{}", path, name)))) set.size += info->size;
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<> prune(const Environment& environment, const BackupOrder& order) {
  const std::vector<backup::BackupSet> sets = TRY(list_sets(environment.files, order.folder));
  for (const std::string& id : backup::plan_pruning(sets, order.retention)) {
    environment.context.log.info("removing backup {}: more than the retention policy keeps", id);
    TRY(environment.files.remove(fmt::format("{}/{}", order.folder, id)));
  }
  return Ok{};
}

Result<std::string> run_script(const Environment& environment, const BackupOrder& order, const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"bash", "-s", "--"};
  argv.insert(argv.end(), words.begin(), words.end());
  const sys::Output output = TRY(
      environment.runner.run(environment.context, {.argv = std::move(argv),
                                                   .environment = {fmt::format("BACKUP_FOLDER={}/{}", order.folder, unfinished)},
                                                   .input = std::string(data::content(data::provider(), "backup-master")),
                                                   .limit = longest_snapshot}));
  if (output.status == 0) return output.out;
  return error(Code::unavailable, "{}: {}: exit status {}: {}", order.node, words.front(), output.status, trim(output.err));
}

// Bytes of the member's database.
Result<std::uint64_t> database_size(const Environment& environment, const BackupOrder& order) {
  const std::string text = TRY(run_script(environment, order, {"size"}));
  const Json statuses = TRY(parse_json(text, "etcdctl endpoint status"));
  if (statuses.is_array() && !statuses.get_array().empty()) {
    const Json* size = find(statuses.get_array().front(), {"Status", "dbSize"});
    if (size && size->is_int64() && size->get_int64() > 0) return static_cast<std::uint64_t>(size->get_int64());
  }
  return error(Code::invalid, "etcdctl endpoint status: no dbSize in its answer");
}

Result<> check_space(const Environment& environment, const BackupOrder& order, const FindSpace& find_space) {
  const std::uint64_t database = TRY(database_size(environment, order));
  const DiskSpace space = TRY(find_space(order.folder));
  const std::uint64_t needed = backup::needed_space(database, space.capacity, !order.recipients.empty());
  if (space.available >= needed) return Ok{};
  return error(
      Code::unavailable,
      "{} on {}: no space for a backup: {} are free, {} are needed (remove files there, or let retentionPolicy keep less)",
      order.folder, order.node, human_size(space.available), human_size(needed));
}

Result<> encrypt(const Environment& environment, const std::string& path, const std::vector<std::string>& recipients) {
  if (recipients.empty()) return Ok{};
  TRY(net::encrypt_file(environment.files, environment.random, path, path + std::string(backup::encrypted_suffix), recipients));
  return environment.files.remove(path);
}

Result<DiskSpace> space_of(const std::string& folder) {
  std::error_code code;
  const std::filesystem::space_info space = std::filesystem::space(folder, code);
  if (code) return error(Code::unavailable, "{}: {}", folder, code.message());
  return DiskSpace{.available = space.available, .capacity = space.capacity};
}

Result<std::optional<std::uint64_t>> limit_of(const Flags& flags, const std::string& name) {
  const std::string text = flags.text(name);
  if (text.empty()) return std::optional<std::uint64_t>();
  const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(text);
  if (!number || *number == 0) return error(Code::invalid, "{}: --{}: '{}' is not a number above 0", command_name, name, text);
  return number;
}

}  // namespace

Result<Json> take_backup(const Environment& environment, const BackupOrder& order, const FindSpace& find_space) {
  sys::Files& files = environment.files;
  TRY(files.make_directories(order.folder, 0700));
  const sys::FileLock lock = TRY(sys::FileLock::acquire(order.folder + "/.lock", order.folder));
  const std::string id = backup::backup_id(environment.context.clock.now(), false);
  const std::string work = fmt::format("{}/{}", order.folder, unfinished), made = fmt::format("{}/{}", work, id);
  TRY(files.remove(work));
  TRY(prune(environment, order));
  TRY(check_space(environment, order, find_space));
  TRY(run_script(environment, order, {"take", id}));
  const std::string snapshot = fmt::format("{}/{}", made, backup::snapshot_name(id));
  const backup::SnapshotStatus status = TRY(backup::read_snapshot(snapshot));
  TRY(encrypt(environment, snapshot, order.recipients));
  TRY(encrypt(environment, fmt::format("{}/{}", made, backup::resources_name(id)), order.recipients));
  // The name of a backup must not survive a power failure without its content.
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"sync", "--file-system", order.folder}}));
  TRY(files.rename(made, fmt::format("{}/{}", order.folder, id)));
  TRY(files.remove(work));
  TRY(prune(environment, order));
  return Json{{"id", id},
              {"revision", std::to_string(status.revision)},
              {"keys", std::to_string(status.keys)},
              {"size", std::to_string(status.size)}};
}

Result<> run_backup(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags(command_name,
                                      {{.name = "folder", .required = true},
                                       {.name = "keep-number"},
                                       {.name = "keep-bytes"},
                                       {.name = "encrypt-to", .repeats = true},
                                       {.name = "result", .required = true}},
                                      arguments));
  const std::optional<std::uint64_t> count = TRY(limit_of(flags, "keep-number")), bytes = TRY(limit_of(flags, "keep-bytes"));
  const BackupOrder order{.folder = flags.text("folder"),
                          .node = sys::environment_variable("NODE_NAME"),
                          .retention = {.count = count, .bytes = bytes},
                          .recipients = flags.texts("encrypt-to")};
  const Json record = TRY(take_backup(environment, order, space_of));
  const std::string text = emit_json(record, JsonStyle::compact);
  environment.print(text + "\n");
  // It is a mount of its own, which cannot be replaced.
  return environment.files.append(flags.text("result"), text, 0600);
}

}  // namespace slipway::components::etcd
