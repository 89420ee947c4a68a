#include "provider/local/client.h"

#include "provider/local/cgroups.h"
#include "provider/local/disk.h"
#include "provider/local/egress.h"
#include "provider/local/forwarder.h"
#include "provider/local/kept_release.h"
#include "provider/local/line_socket.h"
#include "provider/local/preflight.h"
#include "provider/local/spawn_owner.h"
#include "provider/local/sweep.h"

#include "base/text.h"
#include "sys/lock.h"
#include "sys/stages.h"

#include <unistd.h>
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
  constexpr std::size_t max_size = 1000;
  if (rest.size() > max_size) rest.remove_prefix(rest.find('\n', rest.size() - max_size) + 1);
  return std::string(rest);
}

// Whether an owner answers. A connection alone proves nothing: the socket of a killed owner accepts connections until its last
// thread has ended.
Result<bool> has_owner(const sys::Context& context, const ClusterChoice& choice) {
  const Result<Json> answer = ask(context, choice, {.order = Order::list});
  if (!answer.ok() && answer.error().code() != Code::unavailable) return answer.error();
  return answer.ok();
}

bool has_other_forwards(const ClusterConfig& config, const ClusterOptions& options) {
  return !options.forwards.empty() && (options.forwards != config.forwards || options.host_address != config.host_address);
}

std::string other_forwards(const ClusterChoice& choice) {
  return fmt::format("cluster {}: already exists with other forwards (destroy it first, or choose another name with --cluster)",
                     choice.cluster);
}

// The same check as in the owner (Fleet::create_one), except that the machine may be on.
bool has_other_config(sys::Files& files, const std::string& name, const MachinePaths& machine,
                      const std::optional<std::string>& ignition, bool is_blank) {
  const auto record = files.info(machine.record());
  if (!record.ok() || !record.value()) return false;
  const auto discovery = files.info(machine.discovery());
  if (!discovery.ok() || discovery.value().has_value() != is_blank) return true;
  if (is_blank) return false;
  const auto before = files.read_if_exists(machine.ignition());
  if (!before.ok() || before.value() == ignition) return false;
  if (!before.value() || !ignition) return true;
  // Until Ignition has finished, the config may be changed.
  const auto ignited = files.info(sys::marker_path(machine.folder, name + "-ignition"));
  return ignited.ok() && ignited.value();
}

void add_taken_machines(Findings& findings, sys::Files& files, const ClusterChoice& choice,
                        const std::vector<MachineGroup>& groups) {
  for (const MachineGroup& group : groups) {
    for (const std::string& name : group.names) {
      if (!has_other_config(files, name, choice.paths().machine(name), group.ignition, group.is_blank)) continue;
      findings.error({}, "machine", "{} already exists with another Ignition config or another disk", name)
          .hint("destroy it first, or choose another name");
    }
  }
}

void add_taken_forwards(Findings& findings, sys::Files& files, const ClusterChoice& choice, const ClusterOptions& options) {
  const auto config_file = files.info(choice.paths().config());
  if (config_file.ok() && config_file.value()) {
    const Result<ClusterConfig> config = read_cluster(files, choice);
    if (config.ok() && has_other_forwards(config.value(), options)) findings.error({}, "forward", "{}", other_forwards(choice));
    return;
  }
  for (const Forward& forward : options.forwards) {
    if (Forwarder::is_free(options.host_address, forward.host_port)) continue;
    findings
        .error({}, "forward", "host-port-taken: port {} of {} is already in use on this host", forward.host_port,
               options.host_address)
        .hint(
            "stop the program that `ss --listening --tcp --processes` shows; with `slipway machine create`, choose another port "
            "with --forward");
  }
}

// Whether the cluster exists and has its copy of the machine OS.
Result<bool> has_own_os(sys::Files& files, const ClusterChoice& choice) {
  const auto cluster = read_cluster(files, choice);
  if (!cluster.ok()) return cluster.error().code() == Code::not_found ? Result(false) : cluster.error();
  if (cluster->os_commit.empty()) return false;
  return TRY(files.info(choice.paths().os() + "/" + cluster->os_commit)).has_value();
}

// New machines get the machine OS with which the cluster was created, so that all of its machines are the same.
Result<> add_unused_os(Findings& findings, sys::Files& files, const ClusterChoice& choice, const std::string& os_repo) {
  const std::string commit = TRY(read_cluster(files, choice)).os_commit;
  const Result<std::string> newest = newest_os(files, os_repo);
  if (newest.ok() && newest.value() == commit) return Ok{};
  findings.warning({}, "host", "cluster {} keeps its machine OS {}; {} is ignored", choice.cluster, commit.substr(0, 12), os_repo)
      .hint("new clusters get the newest machine OS");
  return Ok{};
}

// The machine OS, the images and the release must be from the same build; for an existing cluster, from the cluster's build.
Result<> add_release_troubles(Findings& findings, sys::Files& files, const ClusterChoice& choice, const ClusterOptions& options) {
  const ClusterPaths paths = choice.paths();
  const auto cluster = read_cluster(files, choice);
  if (!cluster.ok()) {
    if (cluster.error().code() != Code::not_found) return cluster.error();
    const Result<> fits = check_release(files, options.images, options.release);
    if (!fits.ok()) findings.error({}, "release", "{}", fits.error().message());
    return Ok{};
  }
  if (!cluster->os_commit.empty()) return Ok{};
  // The cluster's owner is from an older version, which installs the newest commit. A new owner records the commit of the
  // machines.
  const auto of_machines = TRY(os_of_machines(files, paths));
  const Result<std::string> newest = newest_os(files, cluster->os_repo);
  const bool is_another = of_machines && (!newest.ok() || newest.value() != *of_machines);
  if (!is_another || !TRY(files.info(paths.owner()))) return Ok{};
  findings
      .error({}, "release",
             "cluster {}: its machines run machine OS {}, but its owner process is from an older slipway and would create "
             "machines with another one",
             choice.cluster, of_machines->substr(0, 12))
      .hint(fmt::format("restart the machines: `slipway machine stop --cluster {0}`, then `slipway machine start --cluster {0}`",
                        choice.cluster));
  return Ok{};
}

// Names of the machines that are on; empty if there is no such cluster.
Result<std::set<std::string>> machines_on(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  std::set<std::string> on;
  const auto machines = list_machines(context, files, choice);
  if (!machines.ok() && machines.error().code() == Code::not_found) return on;
  for (const MachineStatus& machine : TRY(machines)) {
    if (is_on(machine.state)) on.insert(machine.name);
  }
  return on;
}

const InotifyUse& use_of(const Facts& facts) { return facts.has_unified_cgroups ? inotify_use_unified : inotify_use; }

Result<std::string> choose_egress_network(sys::Files& files, const ClusterOptions& options) {
  if (!options.has_egress) return std::string();
  std::vector<net::Cidr> taken = networks_of_routes(TRY(files.read("/proc/net/route")));
  taken.push_back(TRY(net::parse_cidr(options.network)));
  for (const std::string& network : options.other_networks) taken.push_back(TRY(net::parse_cidr(network)));
  return free_egress_network(taken);
}

// A registry of the host often has the usual port on all addresses.
int free_push_port(const std::string& address) {
  constexpr int usual = 5000, other = 5050;
  return Forwarder::is_free(address, usual) || !Forwarder::is_free(address, other) ? usual : other;
}

Result<> check_egress(Findings& findings, sys::Files& files) {
  sys::find_missing(findings, egress_programs);
  if (TRY(files.info("/dev/net/tun"))) return Ok{};
  findings.error({}, "host", "platform.local.egress needs /dev/net/tun").hint("modprobe tun");
  return Ok{};
}

// Refuses a setting that the cluster was created without: it would have no effect.
Result<> check_created_with(const ClusterChoice& choice, std::string_view setting, bool is_wanted, bool exists) {
  if (!is_wanted || exists) return Ok{};
  return error(Code::conflict, "cluster {}: exists without {} (destroy it first, or leave {} out)", choice.cluster, setting,
               setting);
}

// Logs the warnings. errors: invalid: with the errors
Result<> judged(const sys::Context& context, const Findings& findings) {
  for (const Finding& finding : findings.all()) {
    if (finding.severity == Severity::warning) context.log.warn("{} ({}); continuing", finding.message, finding.hint);
  }
  return findings.to_result().context("this host cannot run these machines");
}

}  // namespace

int peak_of_inotify(const std::vector<MachineGroup>& groups, const InotifyUse& use, const std::set<std::string>& on) {
  int before = 0, afterwards = 0;
  for (const MachineGroup& group : groups) {
    const int instances = group.has_control_plane ? use.control_plane : use.worker;
    for (const std::string& name : group.names) {
      const bool is_removed = std::ranges::any_of(groups, [&](const MachineGroup& other) { return other.after == name; });
      if (on.contains(name)) {
        if (is_removed) afterwards -= instances;
        continue;
      }
      if (group.after.empty()) before += instances;
      if (!is_removed) afterwards += instances;
    }
  }
  return std::max(before, afterwards);
}

Result<> preflight(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                   const ClusterOptions& options, const std::vector<MachineGroup>& groups) {
  if (::geteuid() != 0) return judged(context, check({.is_root = false}, {}));  // the files of clusters are readable by root only
  const std::set<std::string> on = TRY(machines_on(context, files, choice));
  load_modules(context, files, runner);
  Facts facts = gather_facts(files, choice.state, options.os_repo);
  facts.needs_os_repo = !TRY(has_own_os(files, choice));
  Load load{.machines = 0,
            .inotify_instances = peak_of_inotify(groups, use_of(facts), on),
            .is_cluster = std::ranges::any_of(groups, &MachineGroup::is_of_cluster)};
  for (const MachineGroup& group : groups) load.machines += static_cast<int>(group.names.size());
  Findings findings = check(facts, load);
  if (options.has_egress) TRY(check_egress(findings, files));
  if (!facts.needs_os_repo) TRY(add_unused_os(findings, files, choice, options.os_repo));
  TRY(add_release_troubles(findings, files, choice, options));
  add_taken_machines(findings, files, choice, groups);
  add_taken_forwards(findings, files, choice, options);
  return judged(context, findings);
}

Result<> preflight_start(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                         const std::vector<std::string>& names) {
  TRY(read_cluster(files, choice));
  int machines = 0;
  for (const MachineStatus& machine : TRY(list_machines(context, files, choice))) {
    const bool is_chosen = names.empty() || std::ranges::find(names, machine.name) != names.end();
    if (is_chosen && !is_on(machine.state)) ++machines;
  }
  if (machines == 0) return Ok{};
  load_modules(context, files, runner);
  Facts facts = gather_facts(files, choice.state, "");
  facts.needs_os_repo = false;
  facts.state_free_bytes = std::nullopt;  // the machines have their disks
  return judged(context, check(facts, {.machines = machines, .inotify_instances = machines * use_of(facts).worker}));
}

Result<ClusterConfig> read_cluster(sys::Files& files, const ClusterChoice& choice) {
  const auto read = files.read_if_exists(choice.paths().config());
  if (!read.ok() && read.error().code() == Code::denied)
    return error(Code::denied, "cluster {}: {} (run it with sudo)", choice.cluster, read.error().message());
  const auto text = TRY(read);
  if (!text) {
    return error(Code::not_found, "cluster {}: not found in {} (run `slipway machine create` to create one)", choice.cluster,
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

Result<> ensure_cluster(sys::Files& files, sys::Random& random, const ClusterChoice& choice, const ClusterOptions& options) {
  TRY(check_name("cluster", choice.cluster));
  const ClusterPaths paths = choice.paths();
  TRY(files.make_directories(paths.folder, 0700));
  const sys::FileLock lock = TRY(lock_cluster(choice));
  if (TRY(files.info(paths.config()))) {
    const ClusterConfig config = TRY(read_cluster(files, choice));
    if (has_other_forwards(config, options)) return error(Code::conflict, "{}", other_forwards(choice));
    TRY(check_created_with(choice, "egress", options.has_egress, !config.egress_network.empty()));
    TRY(check_created_with(choice, "offline", options.is_offline, config.is_offline));
    TRY(check_created_with(choice, "these ports of the host", !options.host_ports.empty(),
                           config.host_ports == options.host_ports));
    const bool has_names = std::ranges::all_of(options.records, [&](const NameRecord& record) {
      return std::ranges::find(config.records, record) != config.records.end();
    });
    // Those of a cluster with a release follow from its install-config.
    TRY(check_created_with(choice, "these names", options.release.empty() && !options.records.empty(), has_names));
    return Ok{};
  }
  const std::string id = TRY(sys::random_hex(random, 12));
  const AddressPlan network = TRY(parse_network(options.network));
  const std::string os_commit = TRY(newest_os(files, options.os_repo));
  const std::string domain = options.domain.empty() ? choice.cluster + ".internal" : options.domain;
  const std::string egress_network = TRY(choose_egress_network(files, options));
  const bool has_registry = !options.images.registry.empty();
  const std::string os_registry = has_registry ? options.os_registry : "";
  std::vector<NameRecord> records = options.records;
  if (!os_registry.empty()) records.push_back({os_registry.substr(0, os_registry.rfind(':')), network.gateway()});
  const ClusterConfig config{.name = choice.cluster,
                             .id = id,
                             .network = network,
                             .os_repo = options.os_repo,
                             .forwards = options.forwards,
                             .images = options.images,
                             .domain = domain,
                             .records = std::move(records),
                             .host_address = options.host_address,
                             .os_commit = os_commit,
                             .release = options.release,
                             .release_version = options.release_version,
                             .egress_network = egress_network,
                             .push_port = free_push_port(options.host_address),
                             .os_registry = os_registry,
                             .is_offline = options.is_offline,
                             .host_ports = options.host_ports,
                             .has_own_images = has_registry};
  return files.write(paths.config(), to_text(config), 0600);
}

Result<> ensure_owner(const sys::Context& context, sys::Files& files, const ClusterChoice& choice) {
  const ClusterPaths paths = choice.paths();
  if (TRY(has_owner(context, choice))) return Ok{};
  const ClusterConfig config = TRY(read_cluster(files, choice));
  const sys::FileLock lock = TRY(lock_cluster(choice));
  if (TRY(has_owner(context, choice))) return Ok{};  // another command has started it
  TRY(sweep_cluster(context, files, paths));
  const std::vector<Hierarchy> all = hierarchies(TRY(files.read("/proc/self/mounts")));
  TRY(make_cgroups(files, all, config.id, owner_member));
  LineSocket owner = TRY(spawn_owner(
      {choice.program, "machine-owner", "--cluster", choice.cluster, "--state", choice.state, "--events", paths.events()},
      paths.owner_log(), cgroup_folders(all, config.id, owner_member)));
  const auto reply = TRY(owner.receive(context.stop));
  if (reply == "ready") return Ok{};
  const std::string why =
      reply ? *reply : fmt::format("it exited without a message; the end of its log:\n{}", tail(files, paths.owner_log()));
  return error(Code::unavailable, "owner process of cluster {}: failed to start: {} (log: {})", choice.cluster, why,
               paths.owner_log());
}

Result<Json> ask(const sys::Context& context, const ClusterChoice& choice, const Request& request,
                 const std::function<void(std::string_view)>& console) {
  LineSocket owner = TRY(LineSocket::connect(choice.paths().folder, choice.paths().control_name())
                             .context(fmt::format("cluster {}: no owner process (run `slipway machine start`)", choice.cluster)));
  TRY(owner.send(to_line(request)));
  for (;;) {
    const auto line = TRY(owner.receive(context.stop));
    if (!line) {
      return error(Code::unavailable,
                   "owner process of cluster {}: ended unexpectedly (run the same command to start another one; log: {})",
                   choice.cluster, choice.paths().owner_log());
    }
    Answer answer = TRY(parse_answer(*line));
    if (const auto* event = std::get_if<EventLine>(&answer)) {
      Result<sys::Event> parsed = sys::parse_event(event->line);
      if (parsed.ok()) context.events.relay(parsed.value());
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
  // Remove the config last: with it, the same command can continue after a kill.
  for (const std::string& name : TRY(files.list(paths.folder))) {
    const std::string path = paths.folder + "/" + name;
    if (path != paths.config() && path != paths.command_lock()) TRY(remove_tree(files, path));
  }
  TRY(files.remove(paths.config()));
  return files.remove(paths.folder);
}

}  // namespace slipway::provider::local
