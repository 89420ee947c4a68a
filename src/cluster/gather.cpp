#include "cluster/gather.h"

#include "base/text.h"
#include "data/data.h"
#include "diagnosis/open.h"
#include "diagnosis/probe.h"
#include "diagnosis/redact.h"
#include "diagnosis/rules.h"
#include "release/layer_reader.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_script = Seconds(60);
constexpr Milliseconds longest_request = Seconds(5);
constexpr std::uint64_t largest_bundle = 512u << 20;
constexpr std::uint64_t largest_unpacked = 2ull << 30;
constexpr int machines_at_once = 2;

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

// The folder of a bundle. Whatever gets into it gets in here.
class Writer {
 public:
  Writer(sys::Files& files, const diagnosis::Redactor& redactor, std::string folder)
      : files_(files), redactor_(redactor), folder_(std::move(folder)) {}

  // path: below the folder
  Result<> write(std::string_view path, std::string content) const {
    const std::string target = fmt::format("{}/{}", folder_, path);
    TRY(files_.make_directories(target.substr(0, target.rfind('/')), 0700));
    return files_.write(target, redactor_.redact(std::move(content)), 0600);
  }

  // What a machine sent. Nothing but plain files is taken, so that no link of a hostile machine leads elsewhere.
  Result<> unpack(std::string_view archive, std::string_view below) const {
    return release::read_layer(
        archive, [](release::LayerName) { return true; },
        [&](release::LayerName name, std::string content) -> Result<> {
          const std::string_view path =
              name.starts_with("log-bundle-") ? name.substr(std::min(name.find('/'), name.size() - 1) + 1) : name;
          const auto parts = split(path, '/');
          if (path.empty() || std::ranges::find(parts, "..") != parts.end())
            return error(Code::invalid, "the archive of a machine contains a file with an invalid path: {}", to_utf8(name));
          return write(below.empty() ? std::string(path) : fmt::format("{}/{}", below, path), std::move(content));
        },
        {.file = diagnosis::Redactor::largest_file, .layer = largest_unpacked, .only_files = true});
  }

 private:
  sys::Files& files_;
  const diagnosis::Redactor& redactor_;
  const std::string folder_;
};

// What a script of data/provider collects in a machine, unpacked into the folder `below`.
Result<> gather_machine(const sys::Context& context, provider::Provider& machines, const std::string& machine,
                        const std::string& script, const std::string& id, const Writer& writer, std::string_view below) {
  const sys::Output content =
      TRY(machines.run(context, machine,
                       {.argv = {"bash", "-c", std::string(data::content(data::provider(), script)), script, id},
                        .input = std::string(data::content(data::bootstrap(), "files/usr/local/bin/installer-masters-gather.sh")),
                        .limit = longest_script,
                        .output_limit = largest_bundle}));
  if (content.status != 0) {
    return error(Code::unavailable, "gather script: exit status {}: {}", content.status, content.err.substr(0, 1000));
  }
  return writer.unpack(content.out, below);
}

Result<> write_expected(const config::InstallConfig& config, const Writer& writer) {
  JsonArray addresses;
  for (const std::string& address : config::api_vips(config)) addresses.emplace_back(address);
  const Json expected = {{"domain", config.cluster_domain()}, {"apiAddresses", std::move(addresses)}};
  return writer.write("host/expected.json", emit_json(expected, JsonStyle::pretty));
}

// Objects as the bootstrap machine gathers them, from outside.
Result<> gather_objects(const Environment& environment, kube::Api& api, const Writer& writer) {
  TRY(api.send(environment.context, {.path = "/readyz", .limit = longest_request}));
  for (const Gathered& each : gathered_types) {
    const std::vector<Json> objects = TRY(kube::list(environment.context, api, each.type, "", {.fields = each.fields}));
    const Json list = {{"items", JsonArray(objects.begin(), objects.end())}};
    TRY(writer.write(fmt::format("resources/{}.json", each.file), emit_json(list, JsonStyle::compact)));
  }
  return Ok{};
}

// A bundle that lies unpacked in a folder of its own.
struct Collected {
  sys::TempDir work;
  std::string id;
  diagnosis::Redactor redactor;
  std::string problems{};                // what could not be had, a line each
  std::optional<Error> first_failure{};  // of these
  bool has_answers = false;              // somebody was asked, and told something

  std::string folder() const { return work.path() + "/log-bundle-" + id; }
  Writer writer(const Environment& environment) const { return {environment.files, redactor, folder()}; }

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

Result<> visit(const Environment& environment, provider::Provider& machines, const provider::MachineStatus& machine, Depth depth,
               const Collected& into) {
  const bool is_bootstrap = machine.name == "bootstrap";
  const std::string own = is_bootstrap ? "bootstrap" : "control-plane/" + machine.name;
  const Writer writer = into.writer(environment);
  if (depth == Depth::look && machine.is_booting)
    return gather_machine(environment.context, machines, machine.name, "gather-start", into.id, writer, own);
  return gather_machine(environment.context, machines, machine.name, "gather-machine", into.id, writer, is_bootstrap ? "" : own);
}

// A machine that was asked, and its answer.
using Note = std::function<void(const std::string& machine, const Result<>& answer)>;

// What the machines that are on see of each other.
Result<> gather_probes(const Environment& environment, provider::Provider& provider,
                       std::vector<provider::MachineStatus> machines, const Writer& writer, const Note& note) {
  std::erase_if(machines, [](const provider::MachineStatus& machine) { return !machine.is_on; });
  std::vector<Result<std::string>> said(machines.size(), std::string());
  const auto ask = [&](const std::vector<std::size_t>& whom) {
    return sys::for_each_at_once(environment.context, whom.size(), static_cast<int>(whom.size()),
                                 [&](const sys::Context& context, std::size_t i) -> Result<> {
                                   said[whom[i]] = provider.probe(context, machines[whom[i]].name);
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
    const std::string file = fmt::format("host/{}.probe.txt", machines[i].name);
    note(machines[i].name, said[i].ok() ? writer.write(file, said[i].value()) : said[i].error());
  }
  return Ok{};
}

// What each machine says of itself and of the others; who does not answer is noted.
Result<> ask_machines(const Environment& environment, const Subject& subject, Depth depth, Collected& into) {
  provider::Provider& provider = *subject.machines;
  if (!provider.capabilities().runs_commands) return Ok{};
  const std::vector<provider::MachineStatus> machines = TRY(provider.list(environment.context));
  Guarded<std::vector<std::pair<std::string, Result<>>>> answers;
  const auto note = [&](const std::string& name, const Result<>& result) {
    answers.with_lock([&](auto& all) { all.emplace_back(name, result); });
  };
  sys::TaskGroup tasks(environment.context);
  tasks.run("", [&](const sys::Context& own) {
    return gather_probes(environment.with(own), provider, machines, into.writer(environment), note);
  });
  tasks.run("", [&](const sys::Context& own) {
    return sys::for_each_at_once(own, machines.size(), machines_at_once,
                                 [&](const sys::Context& context, std::size_t i) -> Result<> {
                                   note(machines[i].name, visit(environment.with(context), provider, machines[i], depth, into));
                                   return Ok{};
                                 });
  });
  TRY(tasks.wait());
  for (const auto& [name, result] : answers.with_lock([](const auto& all) { return all; })) into.note(name, result);
  return Ok{};
}

Result<> gather_remote(const Environment& environment, const Subject& subject, const Collected& into) {
  const std::string archive = TRY(fetch_bundle(environment, *subject.remote, subject.access, into.id));
  return into.writer(environment).unpack(archive, "");
}

// What needs nobody's answer.
Result<Collected> begin(const Environment& environment, const Subject& subject) {
  sys::TempDir work = TRY(sys::TempDir::make("slipway-gather"));
  Collected made{
      .work = std::move(work), .id = id_of(environment.context.clock.now()), .redactor = diagnosis::Redactor(subject.secrets)};
  const Writer writer = made.writer(environment);
  TRY(environment.files.make_directories(made.folder(), 0700));
  if (subject.config) TRY(write_expected(*subject.config, writer));
  if (!subject.machines) return made;
  for (provider::BundleFile& file : TRY(subject.machines->bundle_files(environment.context))) {
    TRY(writer.write(file.path, std::move(file.content)));
  }
  return made;
}

// The rest.
Result<> complete(const Environment& environment, const Subject& subject, Depth depth, Collected& made) {
  if (subject.machines) TRY(ask_machines(environment, subject, depth, made));
  if (subject.remote) made.note("bootstrap", gather_remote(environment, subject, made));
  const Writer writer = made.writer(environment);
  if (subject.api && !TRY(environment.files.info(made.folder() + "/resources/pods.json")))
    made.note("objects", gather_objects(environment, *subject.api, writer));
  if (!made.problems.empty()) TRY(writer.write("gather-errors.txt", made.problems));
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
  if (!subject.machines && !made.has_answers) {
    if (made.first_failure) return *made.first_failure;
    return error(Code::not_found,
                 "nothing to collect from: no kubeconfig of the cluster and no machine (name a machine with --bootstrap HOST)");
  }
  if (!made.problems.empty()) environment.context.log.warn("some data could not be collected: {}", made.problems);
  return pack(environment, made, folder);
}

Result<Examination> examine(const Environment& environment, const Subject& subject, const std::string& folder, KeepBundle keep) {
  Collected made = TRY(begin(environment, subject));
  Examination seen;
  seen.findings = TRY(findings_in(environment, made));
  // That a machine is lost is known at once, and nobody has to be asked.
  if (keep == KeepBundle::never && has_final(seen.findings)) return seen;
  TRY(complete(environment, subject, keep == KeepBundle::never ? Depth::look : Depth::everything, made));
  seen.findings = TRY(findings_in(environment, made));
  if (keep == KeepBundle::always || (keep == KeepBundle::if_final && has_final(seen.findings))) {
    seen.bundle = TRY(pack(environment, made, folder));
  }
  return seen;
}

Error explain(const Error& failure, const Examination& seen) {
  if (has_final(seen.findings)) return diagnosis::to_error(seen.findings.front(), seen.bundle);
  std::string text = failure.message();
  if (!seen.findings.empty()) text += "\n" + diagnosis::to_text(seen.findings);
  if (text.ends_with('\n')) text.pop_back();
  if (!seen.bundle.empty()) text += fmt::format("\n  log bundle: {}", seen.bundle);
  return {failure.code(), std::move(text)};
}

}  // namespace slipway::cluster
