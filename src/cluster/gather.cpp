#include "cluster/gather.h"

#include "data/data.h"
#include "diagnosis/open.h"
#include "diagnosis/probe.h"
#include "diagnosis/rules.h"
#include "provider/local/shell.h"
#include "sys/stolen_time.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace slipway::cluster {

namespace local = provider::local;

namespace {

constexpr Milliseconds longest_script = Seconds(60);
constexpr Milliseconds longest_probe = Seconds(20);
constexpr Milliseconds longest_request = Seconds(5);
constexpr std::uint64_t largest_bundle = 512u << 20;
constexpr int machines_at_once = 2;
constexpr int registry_port = 5000;

// Kinds of which the rules look at objects, as files are called after them.
struct Gathered {
  std::string_view file;
  kube::ResourceType type;
  std::string fields{};
};
const std::array gathered_types = {
    Gathered{"clusteroperators", kube::types::cluster_operators},
    Gathered{"clusterversion", kube::types::cluster_versions},
    Gathered{"events", kube::types::events, "type=Warning"},
    Gathered{"nodes", kube::types::nodes},
    Gathered{"pods", kube::types::pods},
};

// "20261121093000"
std::string id_of(WallTime time) {
  std::string id = to_rfc3339(time).substr(0, 19);
  std::erase_if(id, [](char c) { return c < '0' || c > '9'; });
  return id;
}

Result<> unpack_bundle(const Environment& environment, const std::string& archive, const std::string& folder) {
  TRY(environment.files.make_directories(folder, 0700));
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"tar", "--extract", "--gzip", "--strip-components=1", "--no-same-owner", "--directory", folder},
                        .input = archive}));
  return Ok{};
}

// What a script of data/provider collects in a machine, unpacked into `folder`.
Result<> gather_machine(const Environment& environment, const local::ClusterChoice& choice, const std::string& machine,
                        const std::string& script, const std::string& id, const std::string& folder) {
  const sys::Output content = TRY(local::run_captured(
      environment.context, environment.files, environment.runner, choice, machine,
      {.argv = {"bash", "-c", std::string(data::content(data::provider(), script)), script, id},
       .input = std::string(data::content(data::bootstrap(), "files/usr/local/bin/installer-masters-gather.sh")),
       .limit = longest_script,
       .output_limit = largest_bundle}));
  if (content.status != 0) {
    return error(Code::unavailable, "its gather script ended with status {}: {}", content.status, content.err.substr(0, 1000));
  }
  return unpack_bundle(environment, content.out, folder);
}

// What a machine sees of the others, also one that waits for its first boot.
Result<std::string> probe_machine(const Environment& environment, const local::ClusterChoice& choice,
                                  const local::ClusterConfig& cluster, const local::MachineStatus& machine) {
  const std::string registry =
      cluster.images.registry.empty() ? "" : fmt::format("{}:{}", cluster.network.gateway(), registry_port);
  sys::Command probe{.argv = {"sh", "-c", std::string(data::content(data::provider(), "probe-machine")), "probe-machine",
                              cluster.domain, registry},
                     .limit = longest_probe};
  const auto run = machine.leader != 0 ? local::run_captured : local::run_on_disk;
  const sys::Output said =
      TRY(run(environment.context, environment.files, environment.runner, choice, machine.name, std::move(probe)));
  return fmt::format("{}stolen {}\n", said.out, sys::stolen_time(environment.files).count());
}

// What the host knows of the machines.
Result<> gather_host(const Environment& environment, const local::ClusterChoice& choice,
                     const std::vector<local::MachineStatus>& machines, const std::string& folder) {
  const local::ClusterPaths paths = choice.paths();
  std::string table;
  for (const local::MachineStatus& machine : machines) {
    table += fmt::format("{}\n", emit_json(local::to_json(machine), JsonStyle::compact));
    const auto console = TRY(environment.files.read_if_exists(paths.machine(machine.name).console()));
    if (console) TRY(environment.files.write(fmt::format("{}/{}.console.log", folder, machine.name), *console, 0600));
  }
  TRY(environment.files.write(folder + "/machines.jsonl", table, 0600));
  for (const std::string& file : {paths.events(), paths.owner_log(), paths.registry_log()}) {
    const auto text = TRY(environment.files.read_if_exists(file));
    if (text) TRY(environment.files.write(folder + file.substr(file.rfind('/')), *text, 0600));
  }
  return Ok{};
}

Result<> write_expected(const Environment& environment, const config::InstallConfig& config, const std::string& folder) {
  JsonArray addresses;
  for (const std::string& address : config::api_vips(config)) addresses.emplace_back(address);
  const Json expected = {{"domain", config.cluster_domain()}, {"apiAddresses", std::move(addresses)}};
  return environment.files.write(folder + "/expected.json", emit_json(expected, JsonStyle::pretty), 0600);
}

// Objects as the bootstrap machine gathers them, from outside.
Result<> gather_objects(const Environment& environment, kube::Api& api, const std::string& folder) {
  TRY(api.send(environment.context, {.path = "/readyz", .limit = longest_request}));
  for (const Gathered& each : gathered_types) {
    const std::vector<Json> objects = TRY(kube::list(environment.context, api, each.type, "", {.fields = each.fields}));
    const Json list = {{"items", JsonArray(objects.begin(), objects.end())}};
    TRY(environment.files.write(fmt::format("{}/{}.json", folder, each.file), emit_json(list, JsonStyle::compact), 0600));
  }
  return Ok{};
}

// A bundle that lies unpacked in a folder of its own.
struct Collected {
  sys::TempDir work;
  std::string id;
  std::string problems{};                // what could not be had, a line each
  std::optional<Error> first_failure{};  // of these
  bool has_answers = false;              // somebody was asked, and told something

  std::string folder() const { return work.path() + "/log-bundle-" + id; }

  void note(std::string_view whose, const Result<>& asked) {
    has_answers = has_answers || asked.ok();
    if (asked.ok()) return;
    problems += fmt::format("{}: {}\n", whose, asked.error().message());
    if (!first_failure) first_failure = asked.error();
  }
};

// Of a machine that has not come up a look takes only what its init waits for: the whole script waits for what is not there,
// longer than a look may take.
enum class Depth { look, everything };

Result<> visit(const Environment& environment, const local::ClusterChoice& choice, const local::MachineStatus& machine,
               Depth depth, const Collected& into) {
  const bool is_bootstrap = machine.name == "bootstrap";
  const std::string own = into.folder() + (is_bootstrap ? "/bootstrap" : "/control-plane/" + machine.name);
  if (depth == Depth::look && machine.state == local::State::booting)
    return gather_machine(environment, choice, machine.name, "gather-start", into.id, own);
  return gather_machine(environment, choice, machine.name, "gather-machine", into.id, is_bootstrap ? into.folder() : own);
}

// A machine that was asked, and its answer.
using Note = std::function<void(const std::string& machine, const Result<>& answer)>;

// What the machines that are on see of each other.
Result<> gather_probes(const Environment& environment, const local::ClusterChoice& choice, const local::ClusterConfig& cluster,
                       std::vector<local::MachineStatus> machines, const std::string& folder, const Note& note) {
  std::erase_if(machines, [](const local::MachineStatus& machine) { return !local::is_on(machine.state); });
  std::vector<Result<std::string>> said(machines.size(), std::string());
  const auto ask = [&](const std::vector<std::size_t>& whom) {
    return sys::for_each_at_once(environment.context, whom.size(), static_cast<int>(whom.size()),
                                 [&](const sys::Context& context, std::size_t i) -> Result<> {
                                   said[whom[i]] = probe_machine(environment.with(context), choice, cluster, machines[whom[i]]);
                                   return Ok{};
                                 });
  };
  std::vector<std::size_t> everybody(machines.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  TRY(ask(everybody));
  std::vector<diagnosis::Probe> probes;
  for (const Result<std::string>& text : said) probes.push_back(diagnosis::parse_probe(text.ok() ? text.value() : "", ""));
  TRY(ask(diagnosis::to_ask_again(probes)));
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::string file = fmt::format("{}/{}.probe.txt", folder, machines[i].name);
    note(machines[i].name, said[i].ok() ? environment.files.write(file, said[i].value(), 0600) : said[i].error());
  }
  return Ok{};
}

// What each machine says of itself and of the others; who does not answer is noted.
Result<> ask_machines(const Environment& environment, const Subject& subject, Depth depth, Collected& into) {
  const local::ClusterChoice choice = subject.ground->choice(subject.cluster);
  const local::ClusterConfig cluster = TRY(local::read_cluster(environment.files, choice));
  const std::vector<local::MachineStatus> machines = TRY(local::list_machines(environment.context, environment.files, choice));
  Guarded<std::vector<std::pair<std::string, Result<>>>> answers;
  const auto note = [&](const std::string& name, const Result<>& result) {
    answers.with_lock([&](auto& all) { all.emplace_back(name, result); });
  };
  sys::TaskGroup tasks(environment.context);
  tasks.run("", [&](const sys::Context& own) {
    return gather_probes(environment.with(own), choice, cluster, machines, into.folder() + "/host", note);
  });
  tasks.run("", [&](const sys::Context& own) {
    return sys::for_each_at_once(own, machines.size(), machines_at_once,
                                 [&](const sys::Context& context, std::size_t i) -> Result<> {
                                   note(machines[i].name, visit(environment.with(context), choice, machines[i], depth, into));
                                   return Ok{};
                                 });
  });
  TRY(tasks.wait());
  for (const auto& [name, result] : answers.with_lock([](const auto& all) { return all; })) into.note(name, result);
  return Ok{};
}

Result<> gather_remote(const Environment& environment, const Subject& subject, const Collected& into) {
  const std::string archive = TRY(fetch_bundle(environment, *subject.remote, subject.ssh_key, into.id));
  return unpack_bundle(environment, archive, into.folder());
}

// What needs nobody's answer.
Result<Collected> begin(const Environment& environment, const Subject& subject) {
  sys::TempDir work = TRY(sys::TempDir::make("slipway-gather"));
  Collected made{.work = std::move(work), .id = id_of(environment.context.clock.now())};
  const std::string host = made.folder() + "/host";
  TRY(environment.files.make_directories(host, 0700));
  if (subject.config) TRY(write_expected(environment, *subject.config, host));
  if (!subject.ground) return made;
  const local::ClusterChoice choice = subject.ground->choice(subject.cluster);
  TRY(gather_host(environment, choice, TRY(local::list_machines(environment.context, environment.files, choice)), host));
  const Result<sys::Output> network =
      local::run_in_network(environment.context, environment.files, environment.runner, choice,
                            {.argv = {"ip", "-4", "-oneline", "address"}, .limit = longest_request});
  if (network.ok()) TRY(environment.files.write(host + "/network.txt", network->out, 0600));
  return made;
}

// The rest.
Result<> complete(const Environment& environment, const Subject& subject, Depth depth, Collected& made) {
  if (subject.ground) TRY(ask_machines(environment, subject, depth, made));
  if (subject.remote) made.note("bootstrap", gather_remote(environment, subject, made));
  const std::string resources = made.folder() + "/resources";
  if (subject.api && !TRY(environment.files.info(resources + "/pods.json")))
    made.note("objects", gather_objects(environment, *subject.api, resources));
  if (!made.problems.empty()) TRY(environment.files.write(made.folder() + "/gather-errors.txt", made.problems, 0600));
  return Ok{};
}

bool has_final(const std::vector<diagnosis::Finding>& findings) { return !findings.empty() && findings.front().is_final; }

Result<std::vector<diagnosis::Finding>> findings_in(const Environment& environment, const Collected& made) {
  return diagnosis::diagnose(TRY(diagnosis::read_folder(environment.files, made.folder())));
}

// The archive in the folder.
Result<std::string> pack(const Environment& environment, const Collected& made, const std::string& folder) {
  const std::string name = "log-bundle-" + made.id;
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"tar", "--create", "--gzip", "--file", made.work.path() + "/bundle.tar.gz", "--directory",
                                 made.work.path(), name}}));
  // Its own copy, so that the archive appears whole and is nobody else's to read.
  const std::string archive = fmt::format("{}/{}.tar.gz", folder, name);
  TRY(environment.files.write(archive, TRY(environment.files.read(made.work.path() + "/bundle.tar.gz")), 0600));
  return archive;
}

}  // namespace

Result<std::string> gather(const Environment& environment, const Subject& subject, const std::string& folder) {
  Collected made = TRY(begin(environment, subject));
  TRY(complete(environment, subject, Depth::everything, made));
  if (!subject.ground && !made.has_answers) {
    if (made.first_failure) return *made.first_failure;
    return error(Code::not_found,
                 "there is nobody to ask: no kubeconfig of the cluster, and no machine; --bootstrap HOST says where one is");
  }
  if (!made.problems.empty()) environment.context.log.warn("not everything could be gathered: {}", made.problems);
  return pack(environment, made, folder);
}

Result<Examination> examine(const Environment& environment, const Subject& subject, const std::string& folder, Keep keep) {
  Collected made = TRY(begin(environment, subject));
  Examination seen;
  seen.findings = TRY(findings_in(environment, made));
  // That a machine is lost is known at once, and nobody has to be asked.
  if (keep == Keep::never && has_final(seen.findings)) return seen;
  TRY(complete(environment, subject, keep == Keep::never ? Depth::look : Depth::everything, made));
  seen.findings = TRY(findings_in(environment, made));
  if (keep == Keep::always || (keep == Keep::of_final && has_final(seen.findings))) {
    seen.bundle = TRY(pack(environment, made, folder));
  }
  return seen;
}

Error explain(const Error& failure, const Examination& seen) {
  if (has_final(seen.findings)) return diagnosis::to_error(seen.findings.front(), seen.bundle);
  std::string text = failure.message();
  if (!seen.findings.empty()) text += "\n" + diagnosis::to_text(seen.findings);
  if (text.ends_with('\n')) text.pop_back();
  if (!seen.bundle.empty()) text += fmt::format("\n  everything that was gathered: {}", seen.bundle);
  return {failure.code(), std::move(text)};
}

}  // namespace slipway::cluster
