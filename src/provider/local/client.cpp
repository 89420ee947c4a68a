#include "provider/local/client.h"

#include "provider/local/disk.h"
#include "provider/local/forwarder.h"
#include "provider/local/line_socket.h"
#include "provider/local/preflight.h"
#include "provider/local/spawn_owner.h"
#include "provider/local/sweep.h"

#include "base/text.h"
#include "sys/lock.h"
#include "sys/stages.h"

#include <algorithm>

namespace slipway::provider::local {

namespace {

Result<sys::FileLock> lock_cluster(const ClusterChoice& choice) {
  return sys::FileLock::acquire(choice.paths().command_lock(), fmt::format("cluster {}", choice.cluster));
}

// The last lines of a log, for a message.
std::string tail(sys::Files& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  std::string_view rest = text.ok() ? trim(text.value()) : std::string_view();
  constexpr std::size_t most = 1000;
  if (rest.size() > most) rest.remove_prefix(rest.find('\n', rest.size() - most) + 1);
  return std::string(rest);
}

// Whether one answers. That one connects does not say it: the socket of an owner that was killed takes connections until the last
// of its threads is gone.
Result<bool> has_owner(const sys::Context& context, const ClusterChoice& choice) {
  const Result<Json> answer = ask(context, choice, {.order = Order::list});
  if (!answer.ok() && answer.error().code() != Code::unavailable) return answer.error();
  return answer.ok();
}

bool has_other_forwards(const ClusterConfig& config, const ClusterWishes& wishes) {
  return !wishes.forwards.empty() && (wishes.forwards != config.forwards || wishes.host_address != config.host_address);
}

std::string other_forwards(const ClusterChoice& choice) {
  return fmt::format("cluster {} is there already, with other forwards; destroy it first, or choose another with --cluster",
                     choice.cluster);
}

// As the owner will see it (fleet.cpp), but that the machine may be on.
bool has_other_config(sys::Files& files, const std::string& name, const MachinePaths& machine,
                      const std::optional<std::string>& ignition) {
  const auto record = files.info(machine.record());
  if (!record.ok() || !record.value()) return false;
  const auto before = files.read_if_exists(machine.ignition());
  if (!before.ok() || before.value() == ignition) return false;
  if (!before.value() || !ignition) return true;
  // Before Ignition was through, a config may still be mended.
  const auto ignited = files.info(sys::marker_path(machine.folder, name + "-ignition"));
  return ignited.ok() && ignited.value();
}

void add_taken_machines(Findings& findings, sys::Files& files, const ClusterChoice& choice,
                        const std::vector<MachineGroup>& groups) {
  for (const MachineGroup& group : groups) {
    for (const std::string& name : group.names) {
      if (!has_other_config(files, name, choice.paths().machine(name), group.ignition)) continue;
      findings.error({}, "machine", "{} is there already, with another Ignition config", name)
          .hint("destroy it first, or choose another name");
    }
  }
}

void add_taken_forwards(Findings& findings, sys::Files& files, const ClusterChoice& choice, const ClusterWishes& wishes) {
  const auto is_there = files.info(choice.paths().config());
  if (is_there.ok() && is_there.value()) {
    const Result<ClusterConfig> config = read_cluster(files, choice);
    if (config.ok() && has_other_forwards(config.value(), wishes)) findings.error({}, "forward", "{}", other_forwards(choice));
    return;
  }
  for (const Forward& forward : wishes.forwards) {
    if (Forwarder::is_free(wishes.host_address, forward.host_port)) continue;
    findings.error({}, "forward", "host-port-taken: port {} of {} is taken on this host", forward.host_port, wishes.host_address)
        .hint(
            "`ss --listening --tcp --processes` names the program that has it: end it; "
            "`slipway machine create` takes another port with --forward");
  }
}

// Names of the machines that are on. Fine when there is no such cluster.
Result<std::set<std::string>> machines_on(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  std::set<std::string> on;
  const auto machines = list_machines(context, files, choice);
  if (!machines.ok() && machines.error().code() == Code::not_found) return on;
  for (const MachineStatus& machine : TRY(machines)) {
    if (is_on(machine.state)) on.insert(machine.name);
  }
  return on;
}

}  // namespace

int peak_of_inotify(const std::vector<MachineGroup>& groups, const std::set<std::string>& on) {
  int before = 0, afterwards = 0;
  for (const MachineGroup& group : groups) {
    for (const std::string& name : group.names) {
      const bool goes = std::ranges::any_of(groups, [&](const MachineGroup& other) { return other.after == name; });
      if (on.contains(name)) {
        if (goes) afterwards -= group.inotify_instances;
        continue;
      }
      if (group.after.empty()) before += group.inotify_instances;
      if (!goes) afterwards += group.inotify_instances;
    }
  }
  return std::max(before, afterwards);
}

Result<> preflight(const sys::Context& context, sys::Files& files, const ClusterChoice& choice, const ClusterWishes& wishes,
                   const std::vector<MachineGroup>& groups) {
  const std::set<std::string> on = TRY(machines_on(context, files, choice));
  Load load{.machines = 0,
            .inotify_instances = peak_of_inotify(groups, on),
            .is_cluster = std::ranges::any_of(groups, &MachineGroup::is_of_cluster)};
  for (const MachineGroup& group : groups) load.machines += static_cast<int>(group.names.size());
  Findings findings = check(gather_facts(files, choice.state, wishes.os_repo), load);
  add_taken_machines(findings, files, choice, groups);
  add_taken_forwards(findings, files, choice, wishes);
  for (const Finding& finding : findings.all()) {
    if (finding.severity == Severity::warning) context.log.warn("{} ({}); continuing", finding.message, finding.hint);
  }
  return findings.to_result().context("this host cannot run these machines yet");
}

Result<ClusterConfig> read_cluster(sys::Files& files, const ClusterChoice& choice) {
  const auto text = TRY(files.read_if_exists(choice.paths().config()));
  if (!text) {
    return error(Code::not_found, "there is no cluster {} in {}; `slipway machine create` makes one", choice.cluster,
                 choice.state);
  }
  return parse_cluster_config(*text, choice.paths().config());
}

Result<Images> find_images(sys::Files& files, const std::string& folder) {
  Images found;
  if (TRY(files.info(folder + "/containerd"))) found.preload = folder + "/containerd";
  if (TRY(files.info(folder + "/registry")) && TRY(files.info(folder + "/bin/registry"))) {
    found.registry = folder + "/registry";
    found.registry_program = folder + "/bin/registry";
  }
  return found;
}

Result<> ensure_cluster(sys::Files& files, sys::Random& random, const ClusterChoice& choice, const ClusterWishes& wishes) {
  TRY(check_name("cluster", choice.cluster));
  const ClusterPaths paths = choice.paths();
  TRY(files.make_directories(paths.folder, 0700));
  const sys::FileLock lock = TRY(lock_cluster(choice));
  if (TRY(files.info(paths.config()))) {
    const ClusterConfig config = TRY(read_cluster(files, choice));
    if (has_other_forwards(config, wishes)) return error(Code::conflict, "{}", other_forwards(choice));
    return Ok{};
  }
  const std::string id = TRY(sys::random_hex(random, 12));
  const AddressPlan network = TRY(parse_network(wishes.network));
  const std::string domain = wishes.domain.empty() ? choice.cluster + ".internal" : wishes.domain;
  const ClusterConfig config{choice.cluster, id,     network,        wishes.os_repo,     wishes.forwards,
                             wishes.images,  domain, wishes.records, wishes.host_address};
  return files.write(paths.config(), to_text(config), 0600);
}

Result<> ensure_owner(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  const ClusterPaths paths = choice.paths();
  if (TRY(has_owner(context, choice))) return Ok{};
  TRY(read_cluster(files, choice));
  const sys::FileLock lock = TRY(lock_cluster(choice));
  if (TRY(has_owner(context, choice))) return Ok{};  // another command was faster
  TRY(sweep_cluster(context, files, paths));
  LineSocket owner = TRY(spawn_owner(
      {choice.program, "machine-owner", "--cluster", choice.cluster, "--state", choice.state, "--events", paths.events()},
      paths.owner_log()));
  const auto said = TRY(owner.receive(context.stop));
  if (said == "ready") return Ok{};
  const std::string why =
      said ? *said : fmt::format("it ended without a word; its log ends with:\n{}", tail(files, paths.owner_log()));
  return error(Code::unavailable, "the owner of cluster {} did not start: {} (log: {})", choice.cluster, why, paths.owner_log());
}

Result<Json> ask(const sys::Context& context, const ClusterChoice& choice, const Request& request,
                 const std::function<void(std::string_view)>& console) {
  LineSocket owner =
      TRY(LineSocket::connect(choice.paths().folder, choice.paths().control_name())
              .context(fmt::format("cluster {} has no owner; `slipway machine start` starts one", choice.cluster)));
  TRY(owner.send(to_line(request)));
  for (;;) {
    const auto line = TRY(owner.receive(context.stop));
    if (!line) {
      return error(Code::unavailable, "the owner of cluster {} died; the same command starts another (log: {})", choice.cluster,
                   choice.paths().owner_log());
    }
    Answer answer = TRY(parse_answer(*line));
    if (const auto* event = std::get_if<EventLine>(&answer)) {
      Result<sys::Event> told = sys::parse_event(event->line);
      if (told.ok()) context.events.relay(told.value());
    } else if (const auto* text = std::get_if<ConsoleLine>(&answer)) {
      if (console) console(text->text);
    } else if (auto* failure = std::get_if<Error>(&answer)) {
      return std::move(*failure);
    } else {
      return std::get<Json>(std::move(answer));
    }
  }
}

Result<std::vector<MachineStatus>> list_machines(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  const ClusterConfig config = TRY(read_cluster(files, choice));
  const ClusterPaths paths = choice.paths();
  std::vector<MachineStatus> machines;
  const Result<Json> answer = ask(context, choice, {.order = Order::list});
  if (answer.ok()) {
    for (const Json& machine : find_array(answer.value(), {"machines"})) machines.push_back(TRY(parse_machine_status(machine)));
    return machines;
  }
  if (answer.error().code() != Code::unavailable) return answer.error();
  if (!TRY(files.info(paths.machines()))) return machines;
  for (const std::string& name : TRY(files.list(paths.machines()))) {
    const auto text = TRY(files.read_if_exists(paths.machine(name).record()));
    if (!text) continue;
    const MachineRecord record = TRY(parse_machine_record(*text, paths.machine(name).record()));
    machines.push_back({.name = name, .state = State::stopped, .address = config.network.address(record.number)});
  }
  return machines;
}

Result<std::vector<std::string>> list_clusters(sys::Files& files, const std::string& state) {
  std::vector<std::string> clusters;
  if (!TRY(files.info(state))) return clusters;
  for (const std::string& name : TRY(files.list(state))) {
    if (TRY(files.info(cluster_paths(state, name).config()))) clusters.push_back(name);
  }
  return clusters;
}

Result<> destroy_cluster(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  const ClusterPaths paths = choice.paths();
  if (!TRY(files.info(paths.folder))) return Ok{};
  const sys::FileLock lock = TRY(lock_cluster(choice));
  TRY(sweep_cluster(context, files, paths));
  // The config goes last but for the folder itself: as long as it is there, a destroy that was killed can be told again.
  for (const std::string& name : TRY(files.list(paths.folder))) {
    const std::string path = paths.folder + "/" + name;
    if (path != paths.config() && path != paths.command_lock()) TRY(remove_tree(files, path));
  }
  TRY(files.remove(paths.config()));
  return files.remove(paths.folder);
}

}  // namespace slipway::provider::local
