#include "diagnosis/observed.h"

#include "base/number.h"
#include "base/text.h"
#include "kube/conditions.h"
#include "machineconfig/node_annotations.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

constexpr long full_kib = 1024;                     // a file system with less free space is full,
constexpr long full_percent = 90;                   // if so much of it is in use
constexpr long short_kib = 64 * 1024;               // less available memory is almost none
constexpr Milliseconds clock_tolerance = Seconds(120);  // a look takes time itself

struct PortName {
  int port;
  std::string_view what;
};
constexpr std::array port_names = {PortName{2379, "etcd"}, PortName{2380, "etcd's peers"}, PortName{6443, "the API server"},
                                   PortName{22623, "the machine-config-server"}, PortName{10250, "the kubelet"}};

std::string_view what_serves(int port) {
  const auto* row = std::ranges::find(port_names, port, &PortName::port);
  return row == port_names.end() ? "a program" : row->what;
}

bool is_starting_up(const Machine& machine) {
  constexpr std::array states = {std::string_view("preparing"), std::string_view("igniting"), std::string_view("booting"),
                                 std::string_view("rebooting")};
  return std::ranges::find(states, machine.state) != states.end();
}

// When the machine got its state, by the events of its platform.
std::optional<WallTime> state_since(const Snapshot& snapshot, std::string_view machine) {
  std::optional<WallTime> since;
  for (const sys::Event& event : snapshot.host_events) {
    if (event.name == machine && (event.kind == "machine" || event.kind == "boot")) since = event.time;
  }
  return since;
}

// ---- Nodes

// The last sign of life of a kubelet: it renews its Lease every ten seconds.
std::optional<WallTime> last_renewal(const Snapshot& snapshot, const std::string& node) {
  const Json* lease = snapshot.find("leases", "kube-node-lease/" + node);
  return lease ? time_in(*lease, {"spec", "renewTime"}) : std::nullopt;
}

std::string annotation(const Json& node, std::string_view name) { return text_of(node, {"metadata", "annotations", name}); }

// A machine of the platform that has no Node.
AllBroken look_at_missing_node(const Snapshot& snapshot, const std::string& key) {
  const Machine* machine = snapshot.machine(key);
  if (!machine || machine->state != "running" || !snapshot.knows_objects() || key == "bootstrap") return {};
  return {{"node-missing", fmt::format("{} runs and has not joined the cluster", key), state_since(snapshot, key)}};
}

// The node that is drained for the machine-config controller since that time.
std::optional<WallTime> drained_since(const Json& node) {
  const std::string wanted = annotation(node, machineconfig::desired_drain);
  if (!wanted.starts_with("drain-") || annotation(node, machineconfig::last_applied_drain) == wanted) return std::nullopt;
  for (const Json& taint : find_array(node, {"spec", "taints"})) {
    if (find_string(taint, {"key"}) == "node.kubernetes.io/unschedulable") return time_in(taint, {"timeAdded"});
  }
  return std::nullopt;
}

// ---- Machines

// A machine without power, or one that has not started completely.
std::optional<Broken> look_at_state(const Snapshot& snapshot, const Machine& machine) {
  const std::string& name = machine.name;
  const auto since = state_since(snapshot, name);
  // It boots when another machine is removed.
  if (machine.state == "created" || machine.state.empty()) return std::nullopt;
  // It is removed when its work is done.
  if (machine.name == "bootstrap" && machine.state == "stopping") return std::nullopt;
  if (machine.state == "ignition-failed") {
    return Broken{"ignition-failed", fmt::format("Ignition refused the config of {}{}", name, quoted(machine.reason)), since};
  }
  if (machine.state == "failed" || machine.state == "crashed") {
    return Broken{"machine-broken", fmt::format("machine {} does not run{}", name, quoted(machine.reason)), since};
  }
  if (!is_on(machine)) {
    return Broken{
        "machine-off",
        fmt::format("machine {} is {}{}", name, machine.state == "stopped" ? "off" : machine.state, quoted(machine.reason)),
        since};
  }
  if (machine.state == "preparing" || machine.state == "igniting") {
    return Broken{"ignition-waits", fmt::format("{} has not got its config{}", name, quoted(machine.reason)), since};
  }
  if (machine.state != "booting") return std::nullopt;
  std::string jobs;
  if (const Probe* probe = snapshot.probe(name)) {
    for (const Probe::Line& job : probe->lines("job")) {
      if (job.words.back() == "running") jobs += (jobs.empty() ? "" : ", ") + job.words[1];
    }
  }
  return Broken{"machine-boots", fmt::format("{} is still starting{}", name, jobs.empty() ? "" : "; it waits for " + jobs),
                since};
}

std::optional<long> number_in(const Probe::Line& line, std::size_t word) {
  return line.words.size() > word ? parse_number<long>(line.words[word]) : std::nullopt;
}

void look_at_units(const Probe& probe, const std::string& name, AllBroken& found) {
  constexpr std::array units = {std::pair(std::string_view("kubelet.service"), std::string_view("kubelet-stopped")),
                                std::pair(std::string_view("containerd.service"), std::string_view("runtime-stopped"))};
  for (const auto& [unit, link] : units) {
    for (const Probe::Line& line : probe.lines("unit", unit)) {
      if (line.words.size() < 4) continue;
      // The bootstrap machine starts its kubelet when it has its images.
      if (line.words[2] == "failed" || (line.words[2] == "inactive" && name != "bootstrap")) {
        found.push_back({link, fmt::format("{} of {} does not run: {}, {}", unit, name, line.words[2], line.words[3])});
      } else if (line.words.size() > 4 && line.words[4] == "T") {
        found.push_back({"kubelet-frozen", fmt::format("the process of {} of {} is stopped by a signal", unit, name)});
      }
    }
  }
  if (!found.empty()) return;
  for (const Probe::Line& line : probe.lines("reach", "http://127.0.0.1:10248/healthz")) {
    if (line.has_answer()) continue;
    const bool is_active = std::ranges::any_of(probe.lines("unit", "kubelet.service"),
                                               [](const Probe::Line& unit) { return unit.words[2] == "active"; });
    if (!is_active) continue;
    const std::size_t error = line.text.find("curl:");
    found.push_back({"kubelet-hangs", fmt::format("the kubelet of {} does not answer its health check{}", name,
                                                  quoted(error == std::string::npos ? "" : line.text.substr(error)))});
  }
}

void look_at_resources(const Snapshot& snapshot, const Probe& probe, const std::string& name, AllBroken& found) {
  for (const Probe::Line& line : probe.lines("memory")) {
    const auto available = number_in(line, 2);
    if (available && *available < short_kib) {
      found.push_back({"memory-short", fmt::format("{} has only {} of memory left", name,
                                                   human_size(static_cast<unsigned long long>(*available) * 1024))});
    }
  }
  for (const Probe::Line& line : probe.lines("clock")) {
    const Result<WallTime> clock = parse_rfc3339(line.words[1]);
    if (!clock.ok()) continue;
    const Milliseconds ahead = clock.value() - snapshot.notes.time;
    if (std::chrono::abs(ahead) < clock_tolerance) continue;
    found.push_back({"clock-differs", fmt::format("the clock of {} is {} {}", name, human_duration(std::chrono::abs(ahead)),
                                                  ahead.count() > 0 ? "ahead" : "behind")});
  }
  for (const Probe::Line& line : probe.lines("disk")) {
    // Not those of the kernel and of systemd.
    const bool is_for_data = !line.words[1].starts_with("/dev") && !line.words[1].starts_with("/sys");
    const auto used = number_in(line, 2), free = number_in(line, 3);
    // Not a small one that is empty.
    if (is_for_data && used && *used >= full_percent && free && *free < full_kib)
      found.push_back({"disk-full", fmt::format("the file system {} of {} is full", line.words[1], name)});
  }
}

// ---- What machines reach

struct Target {
  std::string machine;  // empty: an address of several machines
  std::string address;
  int port = 0;
};

std::optional<Target> target_of(const Snapshot& snapshot, const Probe::Line& line) {
  const std::string& at = line.words[1];
  const std::size_t colon = at.rfind(':');
  const auto port = parse_number<int>(std::string_view(at).substr(colon + 1));
  if (colon == std::string::npos || !port) return std::nullopt;
  for (const Machine& machine : snapshot.machines) {
    if (machine.address == at.substr(0, colon)) return Target{machine.name, machine.address, *port};
  }
  return std::nullopt;
}

// A machine that reaches the same: the server runs, so that a failure of another machine is one of the way.
std::optional<std::string> witness(const Snapshot& snapshot, std::string_view keyword, const std::string& target,
                                   std::string_view except) {
  for (const auto& [machine, probe] : snapshot.probes) {
    if (machine == except) continue;
    for (const Probe::Line& line : probe.lines(keyword, target)) {
      if (line.has_answer()) return machine;
    }
  }
  return std::nullopt;
}

bool is_lost(const Probe::Line& line) {
  return line.words.size() == 3 && (line.words[2] == "timeout" || line.words[2] == "unreachable");
}

// A machine from which no packet comes back, of servers that answer to another machine or to their own.
bool is_cut_off(const Snapshot& snapshot, const std::string& name, const Probe& probe) {
  int lost = 0, answers = 0;
  for (const Probe::Line& line : probe.lines("port")) {
    const auto target = target_of(snapshot, line);
    if (!target || target->machine == name) continue;
    if (!is_lost(line)) ++answers;
    if (is_lost(line) && witness(snapshot, "port", line.words[1], name)) ++lost;
  }
  return lost > 1 && answers == 0;
}

void look_at_ports(const Snapshot& snapshot, const std::string& name, const Probe& probe, AllBroken& found) {
  for (const Probe::Line& line : probe.lines("port")) {
    const auto target = target_of(snapshot, line);
    if (!target || !is_lost(line) || target->machine == name) continue;
    const Machine* to = snapshot.machine(target->machine);
    const Probe* of_target = snapshot.probe(target->machine);
    if (!to || !is_on(*to) || !of_target || is_cut_off(snapshot, target->machine, *of_target)) continue;
    const auto seen_by = witness(snapshot, "port", line.words[1], name);
    if (!seen_by) continue;
    found.push_back({"port-closed",
                     fmt::format("{} cannot connect to port {} ({}) of {}; {} can", name, target->port, what_serves(target->port),
                                 target->machine, *seen_by == target->machine ? target->machine + " itself" : *seen_by),
                     std::nullopt, fmt::format("from {} to {}, port {}", name, target->machine, target->port)});
  }
}

// Servers at addresses that move between machines, and the registry.
void look_at_servers(const Snapshot& snapshot, const std::string& name, const Probe& probe, AllBroken& found) {
  for (const Probe::Line& line : probe.lines("reach")) {
    const std::string& url = line.words[1];
    // A server that accepts connections and answers late is slow, not out of reach.
    const bool is_slow = line.text.find("bytes received") != std::string::npos;
    if (line.has_answer() || is_slow || url.starts_with("http://127.")) continue;
    const auto seen_by = witness(snapshot, "reach", url, name);
    if (!seen_by) continue;
    if (url.ends_with("/v2/")) {
      found.push_back(
          {"registry-closed", fmt::format("{} cannot reach the registry {}; {} can", name, url, *seen_by), std::nullopt, name});
      continue;
    }
    const bool is_config = url.find(":22623/") != std::string::npos;
    found.push_back({"port-closed",
                     fmt::format("{} cannot connect to port {} ({}) of the API address; {} can", name, is_config ? 22623 : 6443,
                                 what_serves(is_config ? 22623 : 6443), *seen_by),
                     std::nullopt, fmt::format("from {} to the API address, port {}", name, is_config ? 22623 : 6443)});
  }
}

void look_at_names(const Snapshot& snapshot, const std::string& name, const Probe& probe, AllBroken& found) {
  if (snapshot.expected.domain.empty() || snapshot.expected.api_addresses.empty()) return;
  for (const std::string_view host : {"api-int", "api"}) {
    const std::string full = fmt::format("{}.{}", host, snapshot.expected.domain);
    for (const Probe::Line& line : probe.lines("name", full)) {
      const std::vector<std::string> given(line.words.begin() + 2, line.words.end());
      if (given == snapshot.expected.api_addresses) continue;
      found.push_back({"name-wrong",
                       fmt::format("on {}, {} resolves to {}, and the address of the API is {}", name, full,
                                   given.empty() ? "no address" : join(given, ", "),
                                   join(snapshot.expected.api_addresses, ", ")),
                       std::nullopt, name});
      return;
    }
  }
}

// The state of a unit that the control plane of this machine must serve, while the API answers no request.
void look_at_own_ports(const Snapshot& snapshot, const Machine& machine, const Probe& probe, AllBroken& found) {
  if (snapshot.notes.api != LookNotes::Api::silent || role_of(snapshot, machine) != "master") return;
  // Until the bootstrap is over, its machine serves the API.
  if (snapshot.machine("bootstrap")) return;
  constexpr std::array own = {std::tuple(2379, std::string_view("etcd"), std::string_view("openshift-etcd/etcd-")),
                              std::tuple(6443, std::string_view("kube-apiserver"),
                                         std::string_view("openshift-kube-apiserver/kube-apiserver-"))};
  for (const auto& [port, container, pod] : own) {
    for (const Probe::Line& line : probe.lines("port", fmt::format("{}:{}", machine.address, port))) {
      if (line.has_answer()) continue;
      const auto said = snapshot.words.find(fmt::format("{}{}/{}", pod, machine.name, container));
      found.push_back({"not-served", fmt::format("{} of {} does not listen on port {}{}", container, machine.name, port,
                                                 quoted(said == snapshot.words.end() ? "" : said->second))});
      return;
    }
  }
}

}  // namespace

AllBroken look_at_node(const Snapshot& snapshot, const std::string& key) {
  const Json* node = snapshot.find("nodes", key);
  if (!node) return look_at_missing_node(snapshot, key);
  AllBroken found;
  const Json* ready = kube::find_condition(*node, "Ready");
  const std::string_view status = kube::condition_status(*node, "Ready");
  const auto renewed = last_renewal(snapshot, key);
  const auto changed = condition_since(*node, "Ready");
  const bool is_unknown = ready && status == "Unknown";
  // A machine that starts again reports when it runs.
  const Machine* machine = snapshot.machine(key);
  const auto running = machine ? state_since(snapshot, key) : std::nullopt;
  const bool is_starting = machine && is_starting_up(*machine);
  if (!is_starting && (is_unknown || renewed)) {
    auto since = renewed ? renewed : changed;
    if (since && running && is_on(*machine)) since = std::max(*since, *running);
    if (is_unknown || !since || snapshot.notes.time - *since > link_row("node-silent").patience)
      found.push_back({"node-silent", fmt::format("the kubelet of {} is silent", key), since});
  }
  if (found.empty() && !is_starting && ready && status == "False") {
    found.push_back({"node-not-ready",
                     fmt::format("node {} is not Ready{}", key, quoted(kube::condition_text(*node, "Ready", "message"))),
                     changed});
  }
  for (const std::string_view type : {"DiskPressure", "MemoryPressure", "PIDPressure"}) {
    if (kube::condition_status(*node, type) != "True") continue;
    found.push_back({"node-pressure",
                     fmt::format("node {} has {}{}", key, type, quoted(kube::condition_text(*node, type, "message"))),
                     condition_since(*node, type)});
  }
  if (kube::condition_status(*node, "NetworkUnavailable") == "True") {
    found.push_back({"node-without-network",
                     fmt::format("the network of node {} is not set up{}", key,
                                 quoted(kube::condition_text(*node, "NetworkUnavailable", "message"))),
                     condition_since(*node, "NetworkUnavailable")});
  }
  const std::string state = annotation(*node, machineconfig::daemon_state);
  if (state == machineconfig::state_degraded || state == machineconfig::state_unreconcilable) {
    found.push_back({"config-not-applied",
                     fmt::format("{} cannot apply its MachineConfig{}", key,
                                 quoted(annotation(*node, machineconfig::daemon_reason)))});
  }
  if (const auto since = drained_since(*node)) {
    found.push_back({"drain-waits", fmt::format("node {} is still being drained for an update", key), *since});
  }
  return found;
}

AllBroken look_at_machine(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Machine* machine = snapshot.machine(key);
  if (!machine) return found;
  auto state = look_at_state(snapshot, *machine);
  if (state) found.push_back(*std::move(state));
  if (!is_on(*machine)) return found;
  // The probe of a busy machine may run out of time; its kubelet proves that it works.
  const auto renewed = last_renewal(snapshot, key);
  const bool reports = renewed && snapshot.notes.time - *renewed <= link_row("node-silent").patience;
  const auto mute = snapshot.notes.silent_machines.find(key);
  if (mute != snapshot.notes.silent_machines.end() && machine->state == "running" && !reports) {
    found.push_back({"machine-mute", fmt::format("{} is on and does not run commands{}", key, quoted(mute->second))});
  }
  const Probe* probe = snapshot.probe(key);
  if (!probe) return found;
  look_at_own_ports(snapshot, *machine, *probe, found);
  if (machine->state == "running") look_at_units(*probe, key, found);
  look_at_resources(snapshot, *probe, key, found);
  // The interfaces of a machine that is still starting get their addresses in a moment.
  const bool has_address = !probe->lines("address").empty();
  if (!has_address && !is_starting_up(*machine) && !probe->all.empty())
    found.push_back({"no-address", fmt::format("{} has no address", key)});
  return found;
}

AllBroken look_at_reach(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Machine* machine = snapshot.machine(key);
  const Probe* probe = snapshot.probe(key);
  if (!machine || !probe || !is_on(*machine)) return found;
  // Its network comes up.
  if (is_starting_up(*machine) && machine->state != "igniting") return found;
  if (is_cut_off(snapshot, key, *probe)) {
    found.push_back({"machine-cut-off", fmt::format("{} reaches no other machine", key), std::nullopt, key});
    return found;
  }
  look_at_names(snapshot, key, *probe, found);
  if (!found.empty()) return found;
  look_at_ports(snapshot, key, *probe, found);
  look_at_servers(snapshot, key, *probe, found);
  return found;
}

AllBroken look_at_host(const Snapshot& snapshot, const std::string&) {
  AllBroken found;
  std::map<std::string, const sys::Event*> shortages;
  for (const sys::Event& event : snapshot.host_events) {
    if (event.kind != "shortage") continue;
    if (event.phase == sys::Phase::failed) shortages[event.name] = &event;
    if (event.phase == sys::Phase::finished) shortages.erase(event.name);
  }
  for (const auto& [name, event] : shortages) {
    found.push_back({"host-short", fmt::format("{} waits{}", name, quoted(event->error ? event->error->message() : "")),
                     event->time});
  }
  const auto is_off = [](const Machine& machine) { return machine.state == "created" || !is_on(machine); };
  if (snapshot.machines.size() > 1 && std::ranges::all_of(snapshot.machines, is_off)) {
    std::optional<WallTime> since;
    for (const sys::Event& event : snapshot.host_events) since = event.time;
    found.push_back({"all-machines-off", fmt::format("all {} machines of the cluster are off", snapshot.machines.size()), since});
    return found;
  }
  bool has_registry = false, api_answers = false;
  std::string silent_registry;
  for (const auto& [machine, probe] : snapshot.probes) {
    for (const Probe::Line& line : probe.lines("reach")) {
      if (line.words[1].ends_with("/v2/")) {
        has_registry = has_registry || line.has_answer();
        if (!line.has_answer()) silent_registry = line.words[1];
      }
      // A server that is not ready answers with 5xx.
      api_answers =
          api_answers || (line.words[1].ends_with(":6443/readyz") && line.has_answer() && !line.words[2].starts_with('5'));
    }
  }
  if (!silent_registry.empty() && !has_registry) {
    found.push_back({"registry-silent", fmt::format("no machine gets an answer from the registry {}", silent_registry)});
  }
  if (snapshot.notes.api == LookNotes::Api::silent && api_answers) {
    found.push_back({"way-to-api-broken",
                     fmt::format("the machines reach the API, and this host does not{}", quoted(snapshot.notes.api_failure))});
  }
  return found;
}

}  // namespace slipway::diagnosis
