#include "cluster/gather.h"

#include "data/data.h"
#include "provider/local/shell.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

namespace slipway::cluster {

namespace local = provider::local;

namespace {

constexpr Milliseconds longest_script = Seconds(60);
constexpr std::uint64_t largest_bundle = 512u << 20;

// "20261121093000"
std::string id_of(WallTime time) {
  std::string id = to_rfc3339(time).substr(0, 19);
  std::erase_if(id, [](char c) { return c < '0' || c > '9'; });
  return id;
}

// What a machine's own script collects, unpacked into `folder`.
Result<> gather_machine(const Environment& environment, const local::ClusterChoice& choice, const std::string& machine,
                        const std::string& id, const std::string& folder) {
  const sys::Output content = TRY(local::run_captured(
      environment.context, environment.files, environment.runner, choice, machine,
      {.argv = {"bash", "-c", std::string(data::content(data::provider(), "gather-machine")), "gather-machine", id},
       .input = std::string(data::content(data::bootstrap(), "files/usr/local/bin/installer-masters-gather.sh")),
       .limit = longest_script,
       .output_limit = largest_bundle}));
  if (content.status != 0) {
    return error(Code::unavailable, "its gather script ended with status {}: {}", content.status, content.err.substr(0, 1000));
  }
  TRY(environment.files.make_directories(folder, 0700));
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"tar", "--extract", "--gzip", "--strip-components=1", "--no-same-owner", "--directory", folder},
                        .input = content.out}));
  return Ok{};
}

// What the host knows of the machines.
Result<> gather_host(const Environment& environment, const local::ClusterChoice& choice, const std::string& folder) {
  const local::ClusterPaths paths = choice.paths();
  std::string table;
  for (const local::MachineStatus& machine : TRY(local::list_machines(environment.context, environment.files, choice))) {
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

}  // namespace

Result<std::string> gather_local_bootstrap(const Environment& environment, const LocalGround& ground, const std::string& cluster,
                                           const std::string& folder) {
  const local::ClusterChoice choice = ground.choice(cluster);
  const std::vector<local::MachineStatus> machines = TRY(local::list_machines(environment.context, environment.files, choice));
  const std::string id = id_of(environment.context.clock.now());
  const sys::TempDir work = TRY(sys::TempDir::make("slipway-gather"));
  const std::string bundle = work.path() + "/log-bundle-" + id;
  TRY(environment.files.make_directories(bundle + "/host", 0700));
  TRY(gather_host(environment, choice, bundle + "/host"));

  Guarded<std::string> problems;
  TRY(sys::for_each_at_once(environment.context, machines.size(), 2, [&](const sys::Context& context, std::size_t i) -> Result<> {
    const std::string& name = machines[i].name;
    const Environment here{context, environment.files, environment.runner, environment.random, environment.http};
    const Result<> gathered =
        gather_machine(here, choice, name, id, name == "bootstrap" ? bundle : bundle + "/control-plane/" + name);
    if (!gathered.ok()) {
      problems.with_lock([&](std::string& text) { text += fmt::format("{}: {}\n", name, gathered.error().message()); });
    }
    return Ok{};
  }));
  const std::string failed = problems.with_lock([](const std::string& text) { return text; });
  if (!failed.empty()) {
    environment.context.log.warn("not everything could be gathered: {}", failed);
    TRY(environment.files.write(bundle + "/gather-errors.txt", failed, 0600));
  }
  const std::string archive = fmt::format("{}/log-bundle-{}.tar.gz", folder, id);
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"tar", "--create", "--gzip", "--file", work.path() + "/bundle.tar.gz", "--directory",
                                 work.path(), "log-bundle-" + id}}));
  // Its own copy, so that the archive appears whole and is nobody else's to read.
  TRY(environment.files.write(archive, TRY(environment.files.read(work.path() + "/bundle.tar.gz")), 0600));
  return archive;
}

}  // namespace slipway::cluster
