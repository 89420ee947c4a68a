#include "cluster/gather.h"

#include "base/text.h"
#include "cluster/look.h"
#include "data/data.h"
#include "diagnosis/open.h"
#include "diagnosis/redact.h"
#include "diagnosis/rules.h"
#include "release/layer_reader.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_script = Seconds(60);
constexpr Milliseconds longest_request = Seconds(5);
constexpr Milliseconds longest_probe = Seconds(20);
constexpr std::uint64_t largest_bundle = 512u << 20;
constexpr std::uint64_t largest_unpacked = 2ull << 30;
constexpr int machines_at_once = 2;

// "20261121093000"
std::string id_of(WallTime time) {
  std::string id = to_rfc3339(time).substr(0, 19);
  std::erase_if(id, [](char c) { return c < '0' || c > '9'; });
  return id;
}

// The folder of a bundle. All files of the bundle are written, and redacted, here.
class Writer {
 public:
  Writer(sys::Files& files, const diagnosis::Redactor& redactor, std::string folder)
      : files_(files), redactor_(redactor), folder_(std::move(folder)) {}

  // path: relative to the folder
  Result<> write(std::string_view path, std::string content) const {
    const std::string target = fmt::format("{}/{}", folder_, path);
    TRY(files_.make_directories(target.substr(0, target.rfind('/')), 0700));
    return files_.write(target, redactor_.redact(std::move(content)), 0600);
  }

  // Unpacks an archive of a machine. Only plain files are unpacked, so that a link from a hostile machine cannot lead out of the
  // folder.
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

// Runs a script of data/provider on a machine and unpacks its archive into the folder `below`.
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

// Gathers through the API the objects that the bootstrap machine gathers.
Result<> gather_objects(const Environment& environment, kube::Api& api, const Writer& writer) {
  TRY(api.send(environment.context, {.path = "/readyz", .limit = longest_request}));
  for (const ObservedType& each : observed_types()) {
    const auto objects = kube::list(environment.context, api, each.type, each.space, {.fields = each.fields});
    // A cluster may not have the type.
    if (!objects.ok() && objects.error().code() == Code::not_found) continue;
    const std::vector<Json> found = TRY(objects);
    const Json list = {{"items", JsonArray(found.begin(), found.end())}};
    TRY(writer.write(fmt::format("resources/{}.json", each.file), emit_json(list, JsonStyle::compact)));
  }
  return Ok{};
}

// An unpacked bundle in a temporary folder.
struct Bundle {
  sys::TempDir work;
  std::string id;
  diagnosis::Redactor redactor;
  std::string problems{};                // what could not be gathered, one line each
  std::optional<Error> first_failure{};  // the first of `problems`
  bool has_answers = false;              // at least one source returned data

  std::string folder() const { return work.path() + "/log-bundle-" + id; }
  Writer writer(const Environment& environment) const { return {environment.files, redactor, folder()}; }

  void record(std::string_view whose, const Result<>& asked) {
    has_answers = has_answers || asked.ok();
    if (asked.ok()) return;
    problems += fmt::format("{}: {}\n", whose, asked.error().message());
    if (!first_failure) first_failure = asked.error();
  }
};

// For a machine that is still booting, Depth::quick gathers only what its init waits for: the whole script would wait for
// services that do not run yet, longer than an examination may take.
enum class Depth { quick, everything };

Result<> gather_from(const Environment& environment, provider::Provider& machines, const provider::MachineStatus& machine,
                     Depth depth, const Bundle& into) {
  const bool is_bootstrap = machine.name == "bootstrap";
  const std::string own = is_bootstrap ? "bootstrap" : "control-plane/" + machine.name;
  const Writer writer = into.writer(environment);
  if (depth == Depth::quick && machine.is_booting)
    return gather_machine(environment.context, machines, machine.name, "gather-start", into.id, writer, own);
  return gather_machine(environment.context, machines, machine.name, "gather-machine", into.id, writer, is_bootstrap ? "" : own);
}

// Records the result of asking a machine.
using RecordAnswer = std::function<void(const std::string& machine, const Result<>& answer)>;

// Gathers what each running machine sees of the other machines.
Result<> gather_probes(const Environment& environment, provider::Provider& provider,
                       const std::vector<provider::MachineStatus>& machines, const Writer& writer, const RecordAnswer& record) {
  for (Probed& each : TRY(probe_machines(environment.context, provider, machines, longest_probe))) {
    const std::string file = fmt::format("host/{}.probe.txt", each.machine);
    record(each.machine, each.lines.ok() ? writer.write(file, std::move(each.lines).value()) : each.lines.error());
  }
  return Ok{};
}

// Gathers from every machine: its own state, and its probes of the others. Failures are recorded in `into`.
Result<> ask_machines(const Environment& environment, const Subject& subject, Depth depth, Bundle& into) {
  provider::Provider& provider = *subject.machines;
  if (!provider.capabilities().runs_commands) return Ok{};
  const std::vector<provider::MachineStatus> machines = TRY(provider.list(environment.context));
  Guarded<std::vector<std::pair<std::string, Result<>>>> answers;
  const auto record = [&](const std::string& name, const Result<>& result) {
    answers.with_lock([&](auto& all) { all.emplace_back(name, result); });
  };
  sys::TaskGroup tasks(environment.context);
  tasks.run("", [&](const sys::Context& own) {
    return gather_probes(environment.with(own), provider, machines, into.writer(environment), record);
  });
  tasks.run("", [&](const sys::Context& own) {
    return sys::for_each_at_once(
        own, machines.size(), machines_at_once, [&](const sys::Context& context, std::size_t i) -> Result<> {
          record(machines[i].name, gather_from(environment.with(context), provider, machines[i], depth, into));
          return Ok{};
        });
  });
  TRY(tasks.wait());
  for (const auto& [name, result] : answers.with_lock([](const auto& all) { return all; })) into.record(name, result);
  return Ok{};
}

Result<> gather_remote(const Environment& environment, const Subject& subject, const Bundle& into) {
  const std::string archive = TRY(fetch_bundle(environment, *subject.remote, subject.access, into.id));
  return into.writer(environment).unpack(archive, "");
}

// Starts a bundle with the data that needs no answer of a machine or the API.
Result<Bundle> start_bundle(const Environment& environment, const Subject& subject) {
  sys::TempDir work = TRY(sys::TempDir::make("gather"));
  Bundle bundle{
      .work = std::move(work), .id = id_of(environment.context.clock.now()), .redactor = diagnosis::Redactor(subject.secrets)};
  const Writer writer = bundle.writer(environment);
  TRY(environment.files.make_directories(bundle.folder(), 0700));
  if (subject.config) TRY(writer.write("host/expected.json", expected_text(*subject.config)));
  if (!subject.machines) return bundle;
  Result<std::vector<provider::BundleFile>> files = subject.machines->bundle_files(environment.context);
  if (!files.ok() && files.error().code() != Code::unavailable) return files.error();
  bundle.record("platform", files.ok() ? Result<>(Ok{}) : files.error());
  for (provider::BundleFile& file : files.ok() ? std::move(files).value() : std::vector<provider::BundleFile>()) {
    TRY(writer.write(file.path, std::move(file.content)));
  }
  return bundle;
}

// Adds the answers of the machines and of the API.
Result<> add_answers(const Environment& environment, const Subject& subject, Depth depth, Bundle& bundle) {
  // The probes are the first answers; the rest may take minutes.
  diagnosis::LookNotes notes{.time = environment.context.clock.now(), .api = diagnosis::LookNotes::Api::answers};
  if (subject.machines) TRY(ask_machines(environment, subject, depth, bundle));
  if (subject.remote) bundle.record("bootstrap", gather_remote(environment, subject, bundle));
  const Writer writer = bundle.writer(environment);
  if (!TRY(environment.files.info(bundle.folder() + "/resources/pods.json"))) {
    const Result<> gathered = subject.api ? gather_objects(environment, *subject.api, writer) : Result<>(Ok{});
    if (subject.api) bundle.record("objects", gathered);
    if (!subject.api) notes.api = diagnosis::LookNotes::Api::not_asked;
    if (!gathered.ok()) notes.api = diagnosis::LookNotes::Api::silent;
    if (!gathered.ok()) notes.api_failure = gathered.error().message();
  }
  TRY(writer.write(diagnosis::look_file, diagnosis::to_text(notes)));
  if (!bundle.problems.empty()) TRY(writer.write("gather-errors.txt", bundle.problems));
  return Ok{};
}

bool has_final(const std::vector<diagnosis::Finding>& findings) { return !findings.empty() && findings.front().is_final; }

Result<std::vector<diagnosis::Finding>> findings_in(const Environment& environment, const Bundle& bundle) {
  return diagnosis::diagnose(TRY(diagnosis::read_folder(environment.files, bundle.folder())));
}

// Writes the archive into the folder.
Result<std::string> pack(const Environment& environment, const Bundle& bundle, const std::string& folder) {
  const std::string name = "log-bundle-" + bundle.id;
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"tar", "--create", "--gzip", "--file", bundle.work.path() + "/bundle.tar.gz", "--directory",
                                 bundle.work.path(), name}}));
  // tar writes to the temporary folder: the archive appears in `folder` as a whole and is readable by its owner only.
  const std::string archive = fmt::format("{}/{}.tar.gz", folder, name);
  TRY(environment.files.write(archive, TRY(environment.files.read(bundle.work.path() + "/bundle.tar.gz")), 0600));
  return archive;
}

}  // namespace

Result<std::string> gather(const Environment& environment, const Subject& subject, const std::string& folder) {
  Bundle bundle = TRY(start_bundle(environment, subject));
  TRY(add_answers(environment, subject, Depth::everything, bundle));
  if (!subject.machines && !bundle.has_answers) {
    if (bundle.first_failure) return *bundle.first_failure;
    return error(Code::not_found,
                 "nothing to collect from: no kubeconfig of the cluster and no machine (name a machine with --bootstrap HOST)");
  }
  if (!bundle.problems.empty()) environment.context.log.warn("some data could not be collected: {}", bundle.problems);
  return pack(environment, bundle, folder);
}

Result<Examination> examine(const Environment& environment, const Subject& subject, const std::string& folder, KeepBundle keep) {
  Bundle bundle = TRY(start_bundle(environment, subject));
  Examination examination;
  examination.findings = TRY(findings_in(environment, bundle));
  // The state of the machines alone can give a final finding, without asking any machine.
  if (keep == KeepBundle::never && has_final(examination.findings)) return examination;
  TRY(add_answers(environment, subject, keep == KeepBundle::never ? Depth::quick : Depth::everything, bundle));
  examination.findings = TRY(findings_in(environment, bundle));
  if (keep == KeepBundle::always || (keep == KeepBundle::if_final && has_final(examination.findings))) {
    examination.bundle = TRY(pack(environment, bundle, folder));
  }
  return examination;
}

std::string expected_text(const config::InstallConfig& config) {
  JsonArray addresses;
  for (const std::string& address : config::api_vips(config)) addresses.emplace_back(address);
  const Json expected = {{"domain", config.cluster_domain()}, {"apiAddresses", std::move(addresses)}};
  return emit_json(expected, JsonStyle::pretty);
}

Error explain(const Error& failure, const Examination& examination) {
  if (has_final(examination.findings)) return diagnosis::to_error(examination.findings.front(), examination.bundle);
  std::string text = failure.message();
  if (!examination.findings.empty()) text += "\n" + diagnosis::to_text(examination.findings);
  if (text.ends_with('\n')) text.pop_back();
  if (!examination.bundle.empty()) text += fmt::format("\n  log bundle: {}", examination.bundle);
  return {failure.code(), std::move(text)};
}

}  // namespace slipway::cluster
