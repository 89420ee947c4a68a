#include "cluster/restore.h"

#include "backup/backup_set.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "data/data.h"
#include "kube/conditions.h"
#include "kube/types.h"
#include "net/url.h"
#include "sys/stages.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>

namespace slipway::cluster {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds longest_step = 20min;  // of a master, above the limits of the script
constexpr Milliseconds longest_copy = 10min;  // of a piece
constexpr Milliseconds longest_api = 15min, longest_members = 15min, longest_pods = 30min, longest_nodes = 5min;
constexpr std::size_t piece_size = 32u << 20;
constexpr std::size_t machines_at_once = 8;
constexpr std::string_view snapshot_on_machine = "snapshot.db", resources_on_machine = "resources.tar.gz";
constexpr std::array<std::string_view, 4> pod_spaces = {"openshift-etcd", "openshift-kube-apiserver",
                                                        "openshift-kube-controller-manager", "openshift-kube-scheduler"};

// The scripts on the machines.
class Machines {
 public:
  Machines(const RunOnMaster& run, const std::vector<MasterOfBackup>& masters) : run_(run), masters_(masters) {}

  Result<std::string> call(const sys::Context& context, const MasterOfBackup& master, const std::vector<std::string>& words,
                           std::string input = {}) const {
    return run_script(context, master, "restore-master", words, std::move(input));
  }

  Result<std::string> members(const sys::Context& context, const MasterOfBackup& master) const {
    return run_script(context, master, "backup-master", {"members"}, {});
  }

  // Calls the action on all masters at once. errors: those of all masters, one line each
  Result<std::map<std::string, std::string>> call_all(const sys::Context& context, const std::vector<std::string>& words) const {
    std::vector<Result<std::string>> answers(masters_.size(), error(Code::cancelled, "stopped"));
    TRY(sys::for_each_at_once(context, masters_.size(), machines_at_once,
                              [&](const sys::Context& own, std::size_t i) -> Result<> {
                                answers[i] = call(own, masters_[i], words);
                                return Ok{};
                              }));
    std::map<std::string, std::string> answered;
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < masters_.size(); ++i) {
      if (answers[i].ok()) {
        answered[masters_[i].name] = answers[i].value();
      } else {
        problems.push_back(answers[i].error().message());
      }
    }
    if (!problems.empty()) return error(Code::unavailable, "{}", join(problems, "\n"));
    return answered;
  }

 private:
  // The script is an argument, because its standard input may be a piece of a file.
  Result<std::string> run_script(const sys::Context& context, const MasterOfBackup& master, std::string_view script,
                                 const std::vector<std::string>& words, std::string input) const {
    std::vector<std::string> argv = {"bash", "-c", std::string(data::content(data::provider(), script)), "bash"};
    argv.insert(argv.end(), words.begin(), words.end());
    sys::Command command{.argv = std::move(argv), .input = std::move(input), .limit = longest_step};
    const sys::Output output =
        TRY(run_(context, {.name = master.name, .address = master.address}, std::move(command)).context(master.name));
    if (output.status == 0) return output.out;
    return error(Code::unavailable, "{}: {}: exit status {}: {}", master.name, words.front(), output.status, trim(output.err));
  }

  const RunOnMaster& run_;
  const std::vector<MasterOfBackup>& masters_;
};

// "NAME VALUE" lines.
std::map<std::string, std::string> parse_facts(const std::string& text) {
  std::map<std::string, std::string> facts;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos) facts[std::string(line.substr(0, blank))] = trim(line.substr(blank + 1));
  }
  return facts;
}

Result<> copy_file(const sys::Context& context, const Machines& machines, const MasterOfBackup& master, const std::string& path,
                   std::string_view name) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(Code::not_found, "{}: cannot be opened", path);
  std::string piece(piece_size, '\0');
  for (std::uint64_t offset = 0;; offset += piece.size()) {
    piece.resize(piece_size);
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (in.bad()) return error(Code::unavailable, "{}: cannot be read", path);
    piece.resize(static_cast<std::size_t>(in.gcount()));
    if (piece.empty() && offset > 0) return Ok{};
    const std::string answer = TRY(machines.call(context, master, {"put", std::string(name), std::to_string(offset)}, piece));
    if (trim(answer) != std::to_string(offset + piece.size()))
      return error(Code::unavailable, "{}: {} has {} bytes instead of {}", master.name, name, trim(answer),
                   offset + piece.size());
  }
}

// The state of a restore that was begun: it cannot be continued with another backup.
struct State {
  std::string backup, recovery, began;
};

Result<State> begin(sys::Files& files, const RestoreRequest& request, const RestoreCheck& check) {
  const std::string path = request.folder + "/restore.json";
  if (TRY(files.info(path))) {
    const Json known = TRY(parse_json(TRY(files.read(path)), path));
    State state{text_of(known, {"backup"}), text_of(known, {"recoveryMaster"}), text_of(known, {"began"})};
    const bool is_same_kind = is_true(known, {"ofSurvivor"}) == request.is_of_survivor;
    if (state.backup == request.files.id && state.recovery == request.recovery && is_same_kind) return state;
    return error(Code::conflict,
                 "the restore of backup {} on {} is not finished (run that command again; the control plane is stopped)",
                 state.backup, state.recovery);
  }
  TRY(files.make_directories(request.folder, 0700));
  State state{request.files.id, request.recovery, check.began};
  const Json document = {{"backup", state.backup},
                         {"recoveryMaster", state.recovery},
                         {"began", state.began},
                         {"ofSurvivor", request.is_of_survivor}};
  TRY(files.write(path, emit_json(document, JsonStyle::compact) + "\n", 0600));
  return state;
}

Result<> wait_for_api(const sys::Context& context, kube::Api& api) {
  return sys::wait_for(context, "the API of the restored cluster", longest_api, [&]() -> Result<sys::Observation> {
    TRY(kube::list(context, api, kube::types::nodes, ""));
    return sys::Observation::done();
  });
}

Result<> wait_for_members(const sys::Context& context, const Machines& machines, const MasterOfBackup& recovery,
                          const std::vector<MasterOfBackup>& masters) {
  return sys::wait_for(context, "the members of etcd", longest_members, [&]() -> Result<sys::Observation> {
    const std::vector<std::string> missing = TRY(missing_members(TRY(machines.members(context, recovery)), masters));
    if (missing.empty()) return sys::Observation::done();
    return sys::Observation::not_yet("{}", join(missing, ", "));
  });
}

Result<> wait_for_pods(const sys::Context& context, kube::Api& api, const std::vector<MasterOfBackup>& masters,
                       const std::string& began) {
  return sys::wait_for(context, "the static pods of the control plane", longest_pods, [&]() -> Result<sys::Observation> {
    std::vector<Json> pods;
    for (const std::string_view space : pod_spaces) {
      const std::vector<Json> found = TRY(kube::list(context, api, kube::types::pods, space));
      pods.insert(pods.end(), found.begin(), found.end());
    }
    const std::vector<std::string> missing = missing_pods(pods, masters, began);
    if (missing.empty()) return sys::Observation::done();
    return sys::Observation::not_yet("{}", join(missing, ", "));
  });
}

// A machine that does not come back does not hold up the others.
Result<> report_nodes(const sys::Context& context, kube::Api& api, const std::string& began,
                      const std::vector<std::string>& lost) {
  std::vector<std::string> silent;
  const Result<> seen = sys::wait_for(context, "the kubelets", longest_nodes, [&]() -> Result<sys::Observation> {
    std::vector<Json> nodes = TRY(kube::list(context, api, kube::types::nodes, ""));
    std::erase_if(nodes, [&](const Json& node) { return std::ranges::find(lost, kube::name_of(node)) != lost.end(); });
    const std::vector<Json> leases = TRY(kube::list(context, api, kube::types::leases, "kube-node-lease"));
    silent = silent_nodes(nodes, leases, began);
    if (silent.empty()) return sys::Observation::done();
    return sys::Observation::not_yet("{}", join(silent, ", "));
  });
  if (seen.ok() || context.stop.stop_requested()) return seen;
  context.log.warn("nodes that do not report to the restored cluster: {} (docs/restore.md describes how they return)",
                   join(silent, ", "));
  return Ok{};
}

}  // namespace

bool BackupFiles::is_encrypted() const { return snapshot.ends_with(backup::encrypted_suffix); }

Result<BackupFiles> choose_backup(const std::string& folder, const std::string& file, const std::vector<std::string>& names) {
  std::optional<BackupFiles> newest;
  const auto has = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  constexpr std::string_view prefix = "snapshot_", suffix = ".db";
  for (const std::string& name : names) {
    std::string_view rest = name;
    const std::string_view encrypted = rest.ends_with(backup::encrypted_suffix) ? backup::encrypted_suffix : "";
    rest.remove_suffix(encrypted.size());
    if (!rest.starts_with(prefix) || !rest.ends_with(suffix) || (!file.empty() && name != file)) continue;
    const std::string id(rest.substr(prefix.size(), rest.size() - prefix.size() - suffix.size()));
    const std::string resources = backup::resources_name(id) + std::string(encrypted);
    if (!backup::is_backup_id(id) || !has(resources)) continue;
    if (!newest || id > newest->id)
      newest = BackupFiles{id, fmt::format("{}/{}", folder, name), fmt::format("{}/{}", folder, resources)};
  }
  if (newest) return *newest;
  return error(Code::not_found, "{}{}{}: no snapshot_DATE.db with its static_kuberesources_DATE.tar.gz", folder,
               file.empty() ? "" : "/", file);
}

Result<std::vector<MasterOfBackup>> parse_members(const std::string& text) {
  const Json document = TRY(parse_json(text, "etcd-members.json"));
  std::vector<MasterOfBackup> masters;
  for (const Json& member : find_array(document, {"members"})) {
    const std::vector<std::string> urls = texts_of(member, {"peerURLs"});
    const std::string name = text_of(member, {"name"});
    if (name.empty() || urls.empty() || is_true(member, {"isLearner"}) || name == "etcd-bootstrap") continue;
    const net::Url url = TRY(net::parse_url(urls.front()).context("etcd-members.json"));
    masters.push_back({name, url.host, urls.front()});
  }
  std::ranges::sort(masters, {}, &MasterOfBackup::name);
  if (masters.empty()) return error(Code::invalid, "etcd-members.json: no voting member");
  return masters;
}

bool share_authority(std::string_view one, std::string_view other) {
  constexpr std::string_view end = "-----END CERTIFICATE-----";
  for (std::size_t at = 0, next = 0; (next = one.find(end, at)) != std::string_view::npos; at = next + end.size()) {
    if (other.find(trim(one.substr(at, next - at))) != std::string_view::npos) return true;
  }
  return false;
}

Result<std::optional<std::string>> unfinished_backup(sys::Files& files, const std::string& folder) {
  const std::string path = folder + "/restore.json";
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return std::optional<std::string>();
  return std::optional(text_of(TRY(parse_json(*text, path)), {"backup"}));
}

Result<std::vector<std::string>> answering_masters(const Environment& environment, const std::vector<MasterOfBackup>& masters,
                                                   const RunOnMaster& run) {
  const Machines machines(run, masters);
  std::vector<char> answers(masters.size(), 0);
  TRY(sys::for_each_at_once(environment.context, masters.size(), machines_at_once,
                            [&](const sys::Context& own, std::size_t i) -> Result<> {
                              answers[i] = machines.call(own, masters[i], {"facts"}).ok();
                              return Ok{};
                            }));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < masters.size(); ++i) {
    if (answers[i]) names.push_back(masters[i].name);
  }
  return names;
}

std::vector<RestoreStage> restore_stages() {
  return {
      {"stop-control-plane", "all masters", "stop etcd, API servers, controller managers and schedulers, so that nothing writes"},
      {"set-data-aside", "all masters", "move /var/lib/etcd/member to /var/lib/etcd/before-restore-ID"},
      {"copy-backup", "recovery master", "copy the files of the backup"},
      {"restore-static-pods", "recovery master", "replace manifests, certificates and keys of the static pods"},
      {"restore-data", "recovery master", "make the data of a new etcd with one member and a new cluster ID"},
      {"start-recovery-master", "recovery master", "start its control plane and wait for the API"},
      {"start-other-masters", "other masters", "start their control planes; the etcd operator adds their members"},
      {"wait-for-members", "all masters", "wait until all members vote"},
      {"wait-for-pods", "all masters", "wait until all static pods are ready"},
      {"wait-for-nodes", "all nodes", "wait until all kubelets report"},
      {"clean-up", "all masters", "remove the copies of the backup"},
  };
}

Result<RestoreCheck> check_restore(const Environment& environment, const RestoreRequest& request, const RunOnMaster& run) {
  RestoreCheck check;
  check.snapshot = TRY(backup::read_snapshot(request.files.snapshot));
  const Machines machines(run, request.masters);
  const std::map<std::string, std::string> answers = TRY(machines.call_all(environment.context, {"facts"}));
  std::vector<std::string> problems;
  const std::uint64_t needed = 3 * check.snapshot.size;  // the copy, the new data, and some space for etcd
  for (const auto& [name, answer] : answers) {
    std::map<std::string, std::string> facts = parse_facts(answer);
    if (facts["kubelet"] != "active")
      problems.push_back(
          fmt::format("{}: the kubelet does not run, but it starts and stops the control plane (systemctl start kubelet)", name));
    const Result<std::string> authorities = base64_decode(facts["authorities"]);
    if (authorities.ok() && !authorities->empty() && !share_authority(authorities.value(), request.authorities))
      problems.push_back(fmt::format("{}: belongs to another cluster: its etcd has other authorities than the backup", name));
    if (name != request.recovery) continue;
    check.began = facts["now"];
    const std::optional<std::uint64_t> free = parse_number<std::uint64_t>(facts["free"]);
    if (!free || *free < needed)
      problems.push_back(
          fmt::format("{}: {} are free in /var/lib, {} are needed", name, human_size(free.value_or(0)), human_size(needed)));
    if (facts["etcd-image"].empty())
      problems.push_back(fmt::format("{}: no pod of etcd in /etc/kubernetes/manifests; it names the image with etcdutl", name));
  }
  if (!problems.empty()) return error(Code::unavailable, "{}", join(problems, "\n"));
  return check;
}

Result<> restore(const Environment& environment, kube::Api& api, const RestoreRequest& request, const RestoreCheck& check,
                 const RunOnMaster& run) {
  sys::Files& files = environment.files;
  const State state = TRY(begin(files, request, check));
  const Machines machines(run, request.masters);
  const auto recovery = std::ranges::find(request.masters, request.recovery, &MasterOfBackup::name);
  if (recovery == request.masters.end()) return error(Code::invalid, "{}: not a master of the backup", request.recovery);
  const std::string& id = request.files.id;

  const auto on_all = [&](std::vector<std::string> words) {
    return [&machines, words = std::move(words)](const sys::Context& own) -> Result<> {
      TRY(machines.call_all(own, words));
      return Ok{};
    };
  };
  const auto on_recovery = [&](std::vector<std::string> words) {
    return [&machines, recovery, words = std::move(words)](const sys::Context& own) -> Result<> {
      TRY(machines.call(own, *recovery, words));
      return Ok{};
    };
  };
  std::map<std::string_view, std::function<Result<>(const sys::Context&)>> work = {
      {"stop-control-plane", on_all({"stop"})},
      {"set-data-aside", on_all({"set-aside", id})},
      {"copy-backup",
       [&](const sys::Context& own) -> Result<> {
         TRY(copy_file(own, machines, *recovery, request.files.resources, resources_on_machine));
         return copy_file(own, machines, *recovery, request.files.snapshot, snapshot_on_machine);
       }},
      {"restore-static-pods", on_recovery({"resources", std::string(resources_on_machine)})},
      {"restore-data", on_recovery({"data", std::string(snapshot_on_machine), recovery->name, recovery->peer_url, id})},
      {"start-recovery-master",
       [&](const sys::Context& own) -> Result<> {
         TRY(machines.call(own, *recovery, {"start"}));
         return wait_for_api(own, api);
       }},
      {"start-other-masters", on_all({"start"})},
      {"wait-for-members", [&](const sys::Context& own) { return wait_for_members(own, machines, *recovery, request.masters); }},
      {"wait-for-pods", [&](const sys::Context& own) { return wait_for_pods(own, api, request.masters, state.began); }},
      {"wait-for-nodes", [&](const sys::Context& own) { return report_nodes(own, api, state.began, request.lost); }},
      {"clean-up", on_all({"clean", id})},
  };
  std::vector<sys::Stage> stages;
  for (const RestoreStage& stage : restore_stages()) {
    std::vector<std::string> needs;
    if (!stages.empty()) needs.push_back(stages.back().name);
    stages.push_back({.name = std::string(stage.name), .needs = std::move(needs), .run = std::move(work[stage.name])});
  }
  TRY(sys::run_stages(environment.context, files, request.folder, stages));
  return files.remove(request.folder);
}

Result<std::vector<std::string>> missing_members(const std::string& text, const std::vector<MasterOfBackup>& masters) {
  const Json document = TRY(parse_json(text, "etcdctl member list"));
  std::vector<std::string> missing;
  for (const MasterOfBackup& master : masters) {
    std::string problem = "not a member yet";
    for (const Json& member : find_array(document, {"members"})) {
      const std::vector<std::string> urls = texts_of(member, {"peerURLs"});
      if (std::ranges::find(urls, master.peer_url) == urls.end()) continue;
      problem = text_of(member, {"name"}).empty() ? "has not started yet" : is_true(member, {"isLearner"}) ? "a learner" : "";
    }
    if (!problem.empty()) missing.push_back(fmt::format("{}: {}", master.name, problem));
  }
  return missing;
}

std::vector<std::string> missing_pods(const std::vector<Json>& pods, const std::vector<MasterOfBackup>& masters,
                                      std::string_view began) {
  std::vector<std::string> missing;
  for (const std::string_view space : pod_spaces) {
    for (const MasterOfBackup& master : masters) {
      std::string problem = "no static pod";
      for (const Json& pod : pods) {
        const bool is_static = find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
        if (!is_static || kube::namespace_of(pod) != space || find_string(pod, {"spec", "nodeName"}) != master.name) continue;
        // Times of Kubernetes have no fractions and one form, so they compare as texts.
        bool is_new = !find_array(pod, {"status", "containerStatuses"}).empty();
        for (const Json& status : find_array(pod, {"status", "containerStatuses"}))
          is_new &= text_of(status, {"state", "running", "startedAt"}) >= began;
        problem = !is_new ? "not started again" : kube::condition_status(pod, "Ready") == "True" ? "" : "not ready";
      }
      if (!problem.empty()) missing.push_back(fmt::format("{} on {}: {}", space, master.name, problem));
    }
  }
  return missing;
}

std::vector<std::string> silent_nodes(const std::vector<Json>& nodes, const std::vector<Json>& leases, std::string_view began) {
  std::vector<std::string> silent;
  for (const Json& node : nodes) {
    const auto lease = std::ranges::find_if(leases, [&](const Json& it) { return kube::name_of(it) == kube::name_of(node); });
    if (lease == leases.end() || text_of(*lease, {"spec", "renewTime"}) < began) silent.emplace_back(kube::name_of(node));
  }
  return silent;
}

}  // namespace slipway::cluster
