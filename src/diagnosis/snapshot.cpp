#include "diagnosis/snapshot.h"

#include "base/text.h"
#include "diagnosis/last_words.h"
#include "kube/client.h"
#include "kube/roles.h"
#include "sys/event_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

constexpr std::string_view events_of_host = "host/events.jsonl";

// Files of objects that the walk reads.
constexpr std::array files = {
    std::string_view("clusteroperators"),      std::string_view("clusterversion"), std::string_view("csr"),
    std::string_view("endpoints"),             std::string_view("etcds"),          std::string_view("events"),
    std::string_view("kubeapiserver"),         std::string_view("kubescheduler"),  std::string_view("leases"),
    std::string_view("kubecontrollermanager"), std::string_view("nodes"),          std::string_view("machineconfigpools"),
    std::string_view("pods"),                  std::string_view("routes"),         std::string_view("persistentvolumeclaims"),
    std::string_view("claimevents"),
};

constexpr std::array api_names = {std::pair(LookNotes::Api::answers, std::string_view("answers")),
                                  std::pair(LookNotes::Api::silent, std::string_view("silent")),
                                  std::pair(LookNotes::Api::not_asked, std::string_view("not asked"))};

std::string key_of(const Json& object) {
  const std::string_view space = kube::namespace_of(object), name = kube::name_of(object);
  return space.empty() ? std::string(name) : fmt::format("{}/{}", space, name);
}

// The time of the latest probe.
std::optional<WallTime> time_of(const std::map<std::string, Probe, std::less<>>& probes) {
  std::optional<WallTime> latest;
  for (const auto& [machine, probe] : probes) {
    for (const Probe::Line& line : probe.lines("clock")) {
      const Result<WallTime> time = parse_rfc3339(line.words[1]);
      if (time.ok() && (!latest || *latest < time.value())) latest = time.value();
    }
  }
  return latest;
}

// The last words of containers that have ended before, and of those whose log a machine gave.
void add_words(const Bundle& bundle, Snapshot& snapshot) {
  for (const auto& [name, pod] : snapshot.all("pods")) {
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      for (const Json& status : find_array(pod, {"status", list})) {
        if (integer_of(status, {"restartCount"}) == 0) continue;
        const std::string container = text_of(status, {"name"});
        if (auto said = last_words(bundle, name, container))
          snapshot.words.emplace(fmt::format("{}/{}", name, container), std::move(said->text));
      }
    }
  }
  for (const auto& [machine, probe] : snapshot.probes) {
    for (const Probe::Line& line : probe.lines("words")) {
      if (line.words.size() < 4) continue;
      const std::string before = fmt::format("words {} {} ", line.words[1], line.words[2]);
      if (!line.text.starts_with(before)) continue;
      snapshot.words.emplace(fmt::format("{}/{}", line.words[1], line.words[2]), shortened(line.text.substr(before.size())));
    }
  }
}

// A port that machines need on others, by the roles of both; an empty role is any.
struct NeededPort {
  int port;
  std::string_view from, to;
};
constexpr std::array needed_ports = {
    NeededPort{2379, "master", "master"}, NeededPort{2380, "master", "master"}, NeededPort{6443, "", "master"},
    NeededPort{22623, "", "master"},      NeededPort{10250, "master", ""},
};

// By the name alone: a machine that has not joined has no Node. The bootstrap machine runs a control plane.
std::string role_by_name(std::string_view name) {
  if (name.starts_with("master")) return "master";
  if (name.starts_with("worker")) return "worker";
  return name == "bootstrap" ? "bootstrap" : "";
}

bool has_role(const Machine& machine, std::string_view role) {
  const std::string own = role_by_name(machine.name);
  return role.empty() || own == role || (role == "master" && own == "bootstrap");
}

}  // namespace

std::string to_text(const LookNotes& notes) {
  const auto api = std::ranges::find(api_names, notes.api, [](const auto& row) { return row.first; });
  JsonObject silent;
  for (const auto& [machine, reason] : notes.silent_machines) silent[machine] = reason;
  return emit_json({{"time", to_rfc3339(notes.time)},
                    {"api", api->second},
                    {"failure", notes.api_failure},
                    {"silent_machines", std::move(silent)}},
                   JsonStyle::pretty);
}

std::optional<LookNotes> parse_look_notes(const Bundle& bundle) {
  const std::string* text = bundle.find(look_file);
  const Result<Json> document = parse_json(text ? *text : "", look_file);
  if (!document.ok()) return std::nullopt;
  const std::optional<WallTime> time = time_in(document.value(), {"time"});
  if (!time) return std::nullopt;
  LookNotes notes{.time = *time, .api_failure = text_of(document.value(), {"failure"})};
  for (const auto& [value, name] : api_names) {
    if (find_string(document.value(), {"api"}) == name) notes.api = value;
  }
  for (const auto& [machine, reason] : find_object(document.value(), {"silent_machines"})) {
    notes.silent_machines[std::string(machine)] = reason.is_string() ? std::string(reason.get_string()) : "";
  }
  return notes;
}

const Objects& Snapshot::all(std::string_view file) const {
  static const Objects none;
  const auto found = objects.find(file);
  return found == objects.end() ? none : found->second;
}

const Json* Snapshot::find(std::string_view file, std::string_view key) const {
  const Objects& these = all(file);
  const auto found = these.find(key);
  return found == these.end() ? nullptr : &found->second;
}

const Machine* Snapshot::machine(std::string_view name) const {
  const auto found = std::ranges::find(machines, name, &Machine::name);
  return found == machines.end() ? nullptr : &*found;
}

const Probe* Snapshot::probe(std::string_view machine) const {
  const auto found = probes.find(machine);
  return found == probes.end() ? nullptr : &found->second;
}

std::optional<Snapshot> snapshot_of(const Bundle& bundle) {
  Snapshot snapshot;
  if (bundle.find("host/machines.jsonl")) snapshot.machines = bundle.machines();
  for (const Machine& machine : snapshot.machines) {
    if (auto probe = bundle.probe(machine)) snapshot.probes.emplace(machine.name, *std::move(probe));
  }
  for (const std::string_view file : files) {
    std::vector<Json> found = bundle.objects(file);
    if (found.empty()) continue;
    Objects& these = snapshot.objects[std::string(file)];
    for (Json& object : found) {
      std::string key = key_of(object);
      these.insert_or_assign(std::move(key), std::move(object));
    }
  }
  if (auto notes = parse_look_notes(bundle)) {
    snapshot.notes = *std::move(notes);
  } else if (const auto time = time_of(snapshot.probes)) {
    snapshot.notes.time = *time;
    snapshot.notes.api = snapshot.objects.empty() ? LookNotes::Api::not_asked : LookNotes::Api::answers;
  } else {
    return std::nullopt;
  }
  snapshot.expected = bundle.expected();
  if (const std::string* lines = bundle.find(events_of_host)) snapshot.host_events = sys::parse_events(*lines);
  add_words(bundle, snapshot);
  return snapshot;
}

std::optional<WallTime> time_in(const Json& value, std::initializer_list<std::string_view> keys) {
  const Result<WallTime> time = parse_rfc3339(find_string(value, keys).value_or(""));
  return time.ok() ? std::optional(time.value()) : std::nullopt;
}

std::string role_of(const Snapshot& snapshot, const Machine& machine) {
  if (const Json* node = snapshot.find("nodes", machine.name)) {
    if (kube::has_role(*node, kube::master_label)) return "master";
    if (kube::has_role(*node, kube::worker_label)) return "worker";
  }
  return role_by_name(machine.name);
}

bool is_on(const Machine& machine) {
  // States of platforms in which a machine has no power.
  constexpr std::array off = {std::string_view("created"), std::string_view("stopped"),    std::string_view("stopping"),
                              std::string_view("failed"),  std::string_view("shut off"),   std::string_view("crashed"),
                              std::string_view("off"),     std::string_view("terminated"), std::string_view("shutting-down"),
                              std::string_view("ignition-failed"), std::string_view("poweredOff")};
  return std::ranges::find(off, machine.state) == off.end();
}

std::vector<LogWish> wanted_logs(const Snapshot& snapshot, std::size_t most) {
  std::vector<LogWish> wishes;
  for (const auto& [name, pod] : snapshot.all("pods")) {
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      for (const Json& status : find_array(pod, {"status", list})) {
        const int restarts = integer_of(status, {"restartCount"});
        if (restarts == 0 || is_true(status, {"ready"})) continue;
        // A container that waits for its next start has ended; its log is that of the container before.
        wishes.push_back({.space = std::string(kube::namespace_of(pod)),
                          .pod = std::string(kube::name_of(pod)),
                          .container = text_of(status, {"name"}),
                          .node = text_of(pod, {"spec", "nodeName"}),
                          .restarts = restarts,
                          .previous = slipway::find(status, {"state", "running"}) != nullptr});
      }
    }
  }
  std::ranges::stable_sort(wishes, std::ranges::greater(), &LogWish::restarts);
  if (wishes.size() > most) wishes.resize(most);
  return wishes;
}

std::string path_of(const LogWish& wish) {
  return fmt::format("control-plane/{}/containers/logs/{}_{}_/{}/{}.log", wish.node, wish.space, wish.pod, wish.container,
                     wish.restarts);
}

std::vector<std::string> ports_to_try(const std::vector<Machine>& machines, const Machine& from) {
  std::vector<std::string> targets;
  for (const Machine& to : machines) {
    if (to.address.empty() || !is_on(to)) continue;
    for (const NeededPort& needed : needed_ports) {
      if ((has_role(from, needed.from) || to.name == from.name) && has_role(to, needed.to))
        targets.push_back(fmt::format("{}:{}", to.address, needed.port));
    }
  }
  return targets;
}

}  // namespace slipway::diagnosis
