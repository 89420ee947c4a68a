#include "cluster/look.h"

#include "base/text.h"
#include "diagnosis/redact.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_request = Seconds(4);
constexpr int requests_at_once = 4;
constexpr std::size_t most_logs = 3;
constexpr int lines_of_log = 60;
// Clusters with more objects of one kind show the first ones.
constexpr int most_objects = 5000;

// The time that is left of a look.
class Budget {
 public:
  Budget(const sys::Context& context, Milliseconds limit) : clock_(context.clock), end_(clock_.steady() + limit) {}

  Milliseconds left() const { return std::max(end_ - clock_.steady(), Milliseconds(0)); }
  Milliseconds at_most(Milliseconds limit) const { return std::max(std::min(limit, left()), Milliseconds(1)); }
  SteadyTime end() const { return end_; }

 private:
  sys::Clock& clock_;
  SteadyTime end_;
};

std::string path_of(const ObservedType& each) {
  std::string path = fmt::format("{}?limit={}", kube::path_of(each.type, each.space), most_objects);
  if (each.is_cached) path += "&resourceVersion=0";
  if (const std::size_t sign = each.fields.find('='); sign != std::string::npos)
    path += fmt::format("&fieldSelector={}%3D{}", each.fields.substr(0, sign), each.fields.substr(sign + 1));
  return path;
}

// The bundle that a look fills. Tasks write to it at the same time.
using Shared = Guarded<diagnosis::Bundle>;

void put(Shared& bundle, std::string path, std::string content) {
  bundle.with_lock([&](diagnosis::Bundle& files) { files.add(std::move(path), std::move(content)); });
}

// Reads the objects for which there is time. errors: the API does not answer
Result<> read_objects(const sys::Context& context, kube::Api& api, const Budget& budget, Shared& bundle) {
  const std::vector<ObservedType>& types = observed_types();
  const auto read = [&](const sys::Context& own, const ObservedType& type) -> Result<> {
    const Json list = TRY(api.send(own, {.path = path_of(type), .limit = budget.at_most(longest_request)}));
    put(bundle, fmt::format("resources/{}.json", type.file), emit_json(list, JsonStyle::compact));
    return Ok{};
  };
  // Not /readyz: a server that is not ready may still answer.
  TRY(read(context, types.front()));
  const Result<> all = sys::for_each_at_once(
      context, types.size(), requests_at_once, [&](const sys::Context& own, std::size_t i) -> Result<> {
        if (i == 0) return Ok{};
        // A type may not be served yet, or not on this platform.
        const Result<> done = read(own, types[i]);
        if (!done.ok()) context.log.debug("looking at {}: {}", types[i].file, done.error().message());
        return Ok{};
      });
  if (!all.ok()) context.log.debug("looking at the objects of the API: {}", all.error().message());
  return Ok{};
}

// Reads the logs of containers that fail, without secrets: a line that is shortened may show a part of one that is not
// recognized. Returns whether it added any.
bool read_logs(const sys::Context& context, kube::Api& api, const Budget& budget, const diagnosis::Redactor& redactor,
               const diagnosis::Snapshot& snapshot, diagnosis::Bundle& bundle) {
  bool is_changed = false;
  for (const diagnosis::LogWish& wish : diagnosis::wanted_logs(snapshot, most_logs)) {
    if (budget.left() < Seconds(1)) break;
    const Result<Json> log = api.send(
        context, {.path = fmt::format("{}?container={}&tailLines={}&previous={}",
                                      kube::path_of(kube::types::pods, wish.space, wish.pod, "log"), wish.container, lines_of_log,
                                      wish.previous),
                  .limit = budget.at_most(Seconds(1))});
    if (!log.ok() || !log->is_string()) continue;
    bundle.add(diagnosis::path_of(wish), redactor.redact(std::string(log->get_string())));
    is_changed = true;
  }
  return is_changed;
}

// The machines' platform, and what the machines say. errors: those of the platform
Result<> read_machines(const sys::Context& context, provider::Provider& provider, const Budget& budget, Shared& bundle,
                       Guarded<diagnosis::LookNotes>& notes) {
  for (provider::BundleFile& file : TRY(provider.bundle_files(context)))
    put(bundle, std::move(file.path), std::move(file.content));
  if (!provider.capabilities().runs_commands) return Ok{};
  const std::vector<provider::MachineStatus> machines = TRY(provider.list(context));
  // Two thirds for the first probe; the second one is for machines that miss something.
  for (Probed& probed : TRY(probe_machines(context, provider, machines, budget.at_most(budget.left() * 2 / 3)))) {
    if (probed.lines.ok()) {
      put(bundle, fmt::format("host/{}.probe.txt", probed.machine), std::move(probed.lines).value());
    } else {
      notes.with_lock([&](auto& now) { now.silent_machines[probed.machine] = probed.lines.error().message(); });
    }
  }
  return Ok{};
}

}  // namespace

const std::vector<ObservedType>& observed_types() {
  using namespace kube::types;
  static const std::vector<ObservedType> table = {
      // The first one tells whether the API answers.
      {.file = "nodes", .type = nodes, .is_cached = false},
      // Those of failures to bind are not warnings.
      {"claimevents", events, "", "involvedObject.kind=PersistentVolumeClaim"},
      {"clusteroperators", cluster_operators},
      {"clusterversion", cluster_versions},
      {"csr", certificate_requests},
      {"endpoints", endpoints},
      {"etcds", etcds},
      {"events", events, "", "type=Warning"},
      {"kubeapiserver", kube_apiservers},
      {"kubecontrollermanager", kube_controller_managers},
      {"kubescheduler", kube_schedulers},
      {"leases", leases, "kube-node-lease", "", false},
      {"machineconfigpools", machine_config_pools},
      {"persistentvolumeclaims", volume_claims},
      {"pods", pods},
      {"routes", routes},
  };
  return table;
}

Result<std::vector<Probed>> probe_machines(const sys::Context& context, provider::Provider& provider,
                                           std::vector<provider::MachineStatus> machines, Milliseconds limit) {
  std::vector<diagnosis::Machine> known;
  for (const provider::MachineStatus& machine : machines)
    known.push_back({.name = machine.name, .folder = "", .state = machine.state, .reason = "", .address = machine.address});
  std::erase_if(machines, [](const provider::MachineStatus& machine) { return !machine.is_on; });
  std::vector<Probed> probed;
  for (const provider::MachineStatus& machine : machines) probed.push_back({machine.name, std::string()});
  const SteadyTime end = context.clock.steady() + limit * 3 / 2;
  const auto probe_each = [&](const std::vector<std::size_t>& indices, Milliseconds longest) {
    return sys::for_each_at_once(
        context, indices.size(), static_cast<int>(std::max<std::size_t>(indices.size(), 1)),
        [&](const sys::Context& own, std::size_t i) -> Result<> {
          Probed& each = probed[indices[i]];
          const auto from = std::ranges::find(known, each.machine, &diagnosis::Machine::name);
          Result<std::string> lines =
              provider.probe(own, each.machine, {.ports = diagnosis::ports_to_try(known, *from), .limit = longest});
          // A second probe without an answer does not undo the first.
          if (lines.ok() || !each.lines.ok() || each.lines->empty()) each.lines = std::move(lines);
          return Ok{};
        });
  };
  std::vector<std::size_t> all(machines.size());
  std::iota(all.begin(), all.end(), 0);
  TRY(probe_each(all, limit));
  std::vector<diagnosis::Probe> probes;
  for (const Probed& each : probed) probes.push_back(diagnosis::parse_probe(each.lines.ok() ? each.lines.value() : "", ""));
  const std::vector<std::size_t> again = diagnosis::to_ask_again(probes);
  const Milliseconds left = end - context.clock.steady();
  if (again.empty() || left < Seconds(1)) return probed;
  const Result<> asked = probe_each(again, left);
  if (!asked.ok()) context.log.debug("probing machines again: {}", asked.error().message());
  return probed;
}

Result<Look> look(const Environment& environment, const Subject& subject, const diagnosis::Object& object,
                  diagnosis::Situation situation, Milliseconds limit) {
  const sys::Context& context = environment.context;
  if (!subject.api && !subject.machines) {
    return error(Code::not_found, "nothing to look at: no kubeconfig of the cluster and no machine that slipway created");
  }
  const Budget budget(context, limit);
  // Ends requests to a platform that hangs.
  std::stop_source ending;
  const std::stop_callback forward(context.stop, [&] { ending.request_stop(); });
  const std::jthread timer([&](const std::stop_token& own) {
    context.clock.wait(budget.end(), own, nullptr, 0);
    ending.request_stop();
  });
  const sys::Context bounded = context.with_stop(ending.get_token());

  Shared files;
  Guarded<diagnosis::LookNotes> shared_notes;
  Guarded<std::optional<Error>> platform_failure;
  if (subject.config) put(files, "host/expected.json", expected_text(*subject.config));
  {
    // Not with TaskGroup::wait's result: a failure of one side must not end the other.
    sys::TaskGroup tasks(bounded);
    if (subject.api) {
      tasks.run("", [&](const sys::Context& own) -> Result<> {
        const Result<> read = read_objects(own, *subject.api, budget, files);
        shared_notes.with_lock([&](auto& notes) {
          notes.api = read.ok() ? diagnosis::LookNotes::Api::answers : diagnosis::LookNotes::Api::silent;
          if (!read.ok()) notes.api_failure = read.error().message();
        });
        return Ok{};
      });
    }
    if (subject.machines) {
      tasks.run("", [&](const sys::Context& own) -> Result<> {
        const Result<> read = read_machines(own, *subject.machines, budget, files, shared_notes);
        if (!read.ok()) platform_failure.with_lock([&](auto& failure) { failure = read.error(); });
        return Ok{};
      });
    }
    TRY(tasks.wait());
  }
  if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
  diagnosis::LookNotes notes = shared_notes.with_lock([](const auto& now) { return now; });
  const std::optional<Error> failure = platform_failure.with_lock([](const auto& now) { return now; });
  if (failure && notes.api == diagnosis::LookNotes::Api::not_asked) return *failure;
  if (failure) context.log.debug("looking at the machines: {}", failure->message());
  notes.time = context.clock.now();
  diagnosis::Bundle bundle = files.with_lock([](diagnosis::Bundle& all) { return std::move(all); });
  bundle.add(std::string(diagnosis::look_file), diagnosis::to_text(notes));
  const diagnosis::Redactor redactor(subject.secrets);
  const auto read_bundle = [&] { return diagnosis::snapshot_of(bundle).value_or(diagnosis::Snapshot()); };
  Look seen{.chains = {}, .snapshot = read_bundle()};
  // Few looks find a container that fails, and a large cluster takes time to read.
  if (notes.api == diagnosis::LookNotes::Api::answers &&
      read_logs(bounded, *subject.api, budget, redactor, seen.snapshot, bundle)) {
    seen.snapshot = read_bundle();
  }
  seen.chains = diagnosis::why(seen.snapshot, object, situation);
  for (auto& [machine, reason] : seen.snapshot.notes.silent_machines) reason = redactor.redact(std::move(reason));
  for (diagnosis::Chain& chain : seen.chains) {
    for (diagnosis::Link& link : chain) link.sentence = redactor.redact(std::move(link.sentence));
  }
  return seen;
}

}  // namespace slipway::cluster
