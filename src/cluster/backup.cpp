#include "cluster/backup.h"

#include "backup/backup_set.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "data/data.h"
#include "kube/conditions.h"
#include "kube/types.h"
#include "net/age.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_snapshot = Seconds(15 * 60);
constexpr Milliseconds longest_piece = Seconds(10 * 60);
constexpr std::uint64_t piece_size = 64u << 20;  // as in the script
constexpr std::array<std::string_view, 4> control_plane = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"};
constexpr std::string_view manager = "slipway";

// The script on the machine.
class Script {
 public:
  Script(const sys::Context& context, const RunOnMaster& run, const Master& master, std::string id)
      : context_(context), run_(run), master_(master), id_(std::move(id)) {}

  Result<std::string> call(const std::string& action, const std::vector<std::string>& more, Milliseconds limit) const {
    std::vector<std::string> argv = {"bash", "-s", "--", action, id_};
    argv.insert(argv.end(), more.begin(), more.end());
    sys::Command command{.argv = std::move(argv),
                         .input = std::string(data::content(data::provider(), "backup-master")),
                         .limit = limit,
                         .output_limit = 2 * piece_size};
    const sys::Output output = TRY(run_(context_, master_, std::move(command)).context(master_.name));
    if (output.status == 0) return output.out;
    return error(Code::unavailable, "{}: {}: exit status {}: {}", master_.name, action, output.status, trim(output.err));
  }

 private:
  const sys::Context& context_;
  const RunOnMaster& run_;
  const Master& master_;
  const std::string id_;
};

struct RemoteFile {
  std::string name;
  std::uint64_t size = 0;
  std::string sha256;
};

Result<std::vector<RemoteFile>> parse_files(const std::string& answer, const std::string& id) {
  std::vector<RemoteFile> files;
  for (const std::string_view line : split(trim(answer), '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const std::optional<std::uint64_t> size = words.size() == 3 ? parse_number<std::uint64_t>(words[1]) : std::nullopt;
    if (!size) return error(Code::invalid, "the machine returned '{}' instead of a file with size and hash", line);
    files.push_back({std::string(words[0]), *size, std::string(words[2])});
  }
  const bool is_expected =
      files.size() == 2 && files[0].name == backup::snapshot_name(id) && files[1].name == backup::resources_name(id);
  if (!is_expected) return error(Code::invalid, "the machine returned other files than expected: {}", trim(answer));
  return files;
}

Result<> fetch(sys::Files& files, const Script& script, const RemoteFile& file, const std::string& path) {
  TRY(files.remove(path));
  Sha256 hash;
  std::uint64_t size = 0;
  for (std::uint64_t piece = 0; size < file.size; ++piece) {
    const std::string bytes = TRY(script.call("read", {file.name, std::to_string(piece)}, longest_piece));
    if (bytes.empty()) break;
    hash.update(bytes);
    size += bytes.size();
    TRY(files.append(path, bytes, 0600));
  }
  if (size == file.size && hash.finish_hex() == file.sha256) return Ok{};
  return error(Code::invalid, "{}: {} of {} bytes were copied, or others than the machine has", file.name, size, file.size);
}

// Both files get their names only when they are complete.
//
//   is_alone  etcd may have no quorum
Result<Backup> fetch_all(const Environment& environment, const Script& script, const Master& master, const std::string& id,
                         const BackupRequest& request, bool is_alone) {
  const std::string& folder = request.folder;
  const std::vector<std::string> how = is_alone ? std::vector<std::string>{"alone"} : std::vector<std::string>();
  const std::string answer = TRY(script.call("take", how, longest_snapshot));
  const std::vector<RemoteFile> remote = TRY(parse_files(answer, id));
  sys::Files& files = environment.files;
  std::vector<std::string> paths;
  for (const RemoteFile& file : remote) {
    paths.push_back(fmt::format("{}/{}", folder, file.name));
    environment.context.log.info("{}: copying {} ({})", master.name, file.name, human_size(file.size));
    TRY(fetch(files, script, file, paths.back() + ".new"));
  }
  const backup::SnapshotStatus status = TRY(backup::read_snapshot(paths[0] + ".new"));
  for (std::string& path : paths) {
    if (request.recipients.empty()) continue;
    const std::string encrypted = path + std::string(backup::encrypted_suffix);
    TRY(net::encrypt_file(files, environment.random, path + ".new", encrypted + ".new", request.recipients));
    TRY(files.remove(path + ".new"));
    path = encrypted;
  }
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"sync", "--file-system", folder}}));
  for (const std::string& path : paths) TRY(files.rename(path + ".new", path));
  return Backup{.snapshot = paths[0], .resources = paths[1], .status = status, .master = master};
}

Result<Backup> take_from(const Environment& environment, const Master& master, const BackupRequest& request, bool is_dirty,
                         bool is_alone, const RunOnMaster& run) {
  const sys::Context& context = environment.context;
  TRY(environment.files.make_directories(request.folder, 0700));
  const std::string id = backup::backup_id(context.clock.now(), is_dirty);
  const Script script(context, run, master, id);
  Result<Backup> backup = fetch_all(environment, script, master, id, request, is_alone);
  if (const auto removed = script.call("remove", {}, longest_piece); !removed.ok())
    context.log.warn("{}: /var/lib/slipway-backup was not removed: {}", master.name, removed.error().message());
  if (backup.ok()) return backup;
  for (const std::string& name : {backup::snapshot_name(id), backup::resources_name(id)}) {
    for (const std::string_view suffix : {std::string_view(), backup::encrypted_suffix})
      (void)environment.files.remove(fmt::format("{}/{}{}.new", request.folder, name, suffix)).ok();
  }
  return backup;
}

Result<> record(const Environment& environment, kube::Api& api, const Backup& backup, WallTime completed) {
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata",
                        {{"name", "recent-backup"},
                         {"namespace", "openshift-etcd"},
                         {"annotations", {{"kubernetes.io/description", "The last backup of etcd that slipway backup took."}}}}},
                       {"data",
                        {{"completed", to_rfc3339(std::chrono::floor<std::chrono::seconds>(completed))},
                         {"master", backup.master.name},
                         {"revision", std::to_string(backup.status.revision)},
                         {"keys", std::to_string(backup.status.keys)}}}};
  TRY(kube::apply(environment.context, api, kube::types::config_maps, object, manager).context("recording the backup"));
  return Ok{};
}

bool is_master(const Json& node) {
  return find_object(node, {"metadata", "labels"}).if_contains("node-role.kubernetes.io/master") != nullptr;
}

std::string address_of(const Json& node) {
  for (const Json& each : find_array(node, {"status", "addresses"})) {
    if (find_string(each, {"type"}) == "InternalIP") return text_of(each, {"address"});
  }
  return "";
}

// Why no backup is taken from a master; empty: it is ready.
std::string master_problem(const Json& node, const std::vector<Json>& etcd_pods) {
  if (kube::condition_status(node, "Ready") != "True") return "not Ready";
  for (const Json& pod : etcd_pods) {
    if (find_string(pod, {"spec", "nodeName"}) != kube::name_of(node)) continue;
    return kube::condition_status(pod, "Ready") == "True" ? "" : "its pod of etcd is not Ready";
  }
  return "it has no pod of etcd";
}

}  // namespace

Result<Master> choose_master(const std::vector<Json>& nodes, const std::vector<Json>& etcd_pods, const std::string& wanted) {
  std::vector<std::string> problems;
  for (const Json& node : nodes) {
    const std::string name(kube::name_of(node));
    if (!is_master(node) || (!wanted.empty() && name != wanted)) continue;
    const std::string problem = master_problem(node, etcd_pods);
    if (problem.empty()) return Master{.name = name, .address = address_of(node)};
    problems.push_back(fmt::format("{}: {}", name, problem));
  }
  if (problems.empty()) return error(Code::not_found, "{} is not a master", wanted.empty() ? "no node" : wanted);
  return error(Code::not_found, "no master with a working etcd: {}", join(problems, "; "));
}

std::vector<std::string> changing_operators(const std::vector<Json>& cluster_operators) {
  std::vector<std::string> changing;
  for (const Json& each : cluster_operators) {
    const std::string_view name = kube::name_of(each);
    if (std::ranges::find(control_plane, name) == control_plane.end()) continue;
    if (kube::condition_status(each, "Progressing") == "False") continue;
    changing.push_back(fmt::format("{}: {}", name, kube::condition_text(each, "Progressing", "message")));
  }
  return changing;
}

Result<Backup> take_backup(const Environment& environment, kube::Api& api, const BackupRequest& request, const RunOnMaster& run) {
  const sys::Context& context = environment.context;
  const std::vector<Json> operators = TRY(kube::list(context, api, kube::types::cluster_operators, ""));
  const std::vector<std::string> changing = changing_operators(operators);
  if (!changing.empty() && !request.is_forced) {
    return error(
        Code::conflict,
        "the control plane is being changed: {} (wait until `kubectl get clusteroperators` shows no change, or use --force)",
        join(changing, "; "));
  }
  const std::vector<Json> nodes = TRY(kube::list(context, api, kube::types::nodes, ""));
  const std::vector<Json> pods = TRY(kube::list(context, api, kube::types::pods, "openshift-etcd", {.labels = "app=etcd"}));
  const Master master = TRY(choose_master(nodes, pods, request.master));
  Backup backup = TRY(take_from(environment, master, request, !changing.empty(), false, run));
  TRY(record(environment, api, backup, context.clock.now()));
  return backup;
}

Result<Backup> take_survivor_backup(const Environment& environment, const std::string& folder, const Master& master,
                                    const RunOnMaster& run) {
  return take_from(environment, master, {.folder = folder}, true, true, run);
}

std::vector<std::string> root_command_by_ssh(const std::string& host, const std::vector<std::string>& keys,
                                             const std::string& known_hosts, const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"ssh", "-l", "core"};
  for (const std::string& option :
       {std::string("BatchMode=yes"), std::string("ConnectTimeout=15"), std::string("ServerAliveInterval=15"),
        std::string("LogLevel=ERROR"), fmt::format("UserKnownHostsFile=\"{}\"", known_hosts),
        std::string("StrictHostKeyChecking=accept-new")}) {
    argv.insert(argv.end(), {"-o", option});
  }
  for (const std::string& key : keys) argv.insert(argv.end(), {"-i", key});
  argv.insert(argv.end(), {"--", host, "sudo " + shell_quote(command)});
  return argv;
}

}  // namespace slipway::cluster
