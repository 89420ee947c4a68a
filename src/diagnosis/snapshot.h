// A snapshot: what one look at a cluster has seen, for the walk in why.h. It is read from the files of a bundle, so that a look
// at a running cluster and the analysis of a log bundle are the same.
//
//   host/look.json          {"time": "2026-11-22T06:10:00Z", "api": "silent", "failure": "...", "silent_machines": {"m0": "..."}}
//   resources/FILE.json     objects of the API; observed_files() lists those that the walk reads
//   host/*, control-plane/* as in bundle.h
#pragma once

#include "base/time.h"
#include "diagnosis/bundle.h"
#include "diagnosis/probe.h"
#include "sys/events.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

inline constexpr std::string_view look_file = "host/look.json";

// What the look knows about itself. `api`: whether the API gave objects; a look without a kubeconfig has not asked.
struct LookNotes {
  enum class Api { answers, silent, not_asked };
  WallTime time{};
  Api api = Api::not_asked;
  std::string api_failure{};                         // if silent
  std::map<std::string, std::string> silent_machines{};  // machines that are on and did not answer, with the reason
};
std::string to_text(const LookNotes& notes);                            // the content of look_file
std::optional<LookNotes> parse_look_notes(const Bundle& bundle);  // nothing: the bundle has no such file

using Objects = std::map<std::string, Json, std::less<>>;  // by "NAMESPACE/NAME", or by "NAME" if they have no namespace

// A value. Threads: any.
struct Snapshot {
  LookNotes notes{};
  std::map<std::string, Objects, std::less<>> objects{};  // by file without ".json": "pods"
  std::vector<Machine> machines{};
  std::map<std::string, Probe, std::less<>> probes{};  // by machine
  Expected expected{};
  std::vector<sys::Event> host_events{};                     // of the machines' platform
  std::map<std::string, std::string, std::less<>> words{};  // the last words of a container, by "NAMESPACE/POD/CONTAINER"

  const Objects& all(std::string_view file) const;                         // empty if there are none
  const Json* find(std::string_view file, std::string_view key) const;     // null if there is none
  const Machine* machine(std::string_view name) const;                     // null if there is none
  const Probe* probe(std::string_view machine) const;                      // null if there is none
  bool knows_objects() const { return notes.api == LookNotes::Api::answers; }
};

// A bundle without look_file gets the time of its latest probe. Without any time nothing has an age: nullopt.
std::optional<Snapshot> snapshot_of(const Bundle& bundle);

// The time in a member of an object, such as "lastTransitionTime"; nothing if it is missing or no time.
std::optional<WallTime> time_in(const Json& value, std::initializer_list<std::string_view> keys);

// "master", "worker", "bootstrap", or empty: by the label of its Node, else by the name of the machine.
std::string role_of(const Snapshot& snapshot, const Machine& machine);

// Whether the platform says that the machine is switched on. Without a list of machines there are none.
bool is_on(const Machine& machine);

// Containers whose log the walk wants to quote: those that fail. At most `most`.
struct LogWish {
  std::string space, pod, container, node;
  int restarts = 0;
  bool previous = false;  // of the container that ended, not of the one that runs
};
std::vector<LogWish> wanted_logs(const Snapshot& snapshot, std::size_t most);
// Where the log of a wish goes in a bundle, so that rules find it, too.
std::string path_of(const LogWish& wish);

// Ports that a machine must reach on the others: "10.97.77.12:2380". The machine's own ports are among them: they show what is
// served.
std::vector<std::string> ports_to_try(const std::vector<Machine>& machines, const Machine& from);

}  // namespace slipway::diagnosis
