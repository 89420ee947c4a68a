#include "agent/bootstrap_host.h"

#include "agent/live_config.h"
#include "assist/controller.h"
#include "base/template.h"
#include "base/text.h"
#include "ignition/validate.h"
#include "kube/client.h"
#include "kube/verbs.h"
#include "node/config_disk.h"

#include <fmt/core.h>

#include <array>
#include <map>

namespace slipway::agent {

namespace {

constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);
constexpr Milliseconds program_limit = std::chrono::minutes(2);
constexpr sys::Pace pace{Milliseconds(250), Milliseconds(1'000)};
constexpr std::string_view release_unit = "release-image.service";
constexpr std::string_view journal_lines = "8";
constexpr std::size_t longest_journal = 1'200;
const std::string assets = "/opt/openshift";
// The first one is the address of the cluster. It is the right one after the handover, when this machine no longer serves the
// API; the second one also works while no name is resolved and no load balancer knows this machine.
// While the API address moves to a master, requests on connections to this host's own API server get no answer.
constexpr Milliseconds answer_limit{3'000};

const std::array kubeconfigs = {assets + "/auth/kubeconfig", assets + "/auth/kubeconfig-loopback"};

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

Result<> BootstrapHost::plan() {
  sys::Files& files = environment_.files;
  const std::string text = TRY(files.read(config_file()));
  const ignition::Parsed parsed = TRY(ignition::read_config(text, "bootstrap.ign"));
  std::map<std::string, std::string> existing;
  for (const std::string& path : appended_paths(parsed.config)) {
    if (const auto content = TRY(files.read_if_exists(path))) existing[path] = *content;
  }
  const machineconfig::MachineConfig live = TRY(live_config(parsed.config, existing).context("bootstrap.ign"));
  return files.write(plan_file(), emit_json(machineconfig::to_json(live), JsonStyle::compact), 0600);
}

Result<> BootstrapHost::apply() {
  const std::string bootstrap = TRY(environment_.files.read(config_file()));
  const ignition::Parsed parsed = TRY(ignition::read_config(bootstrap, "bootstrap.ign"));
  for (const ignition::Directory& folder : parsed.config.storage.directories) {
    TRY(environment_.files.make_directories(folder.path, static_cast<sys::Mode>(folder.mode.value_or(0755))));
  }
  const std::string text = TRY(environment_.files.read(plan_file()));
  const Json object = TRY(parse_json(text, plan_file()));
  const machineconfig::MachineConfig live = TRY(machineconfig::parse_machine_config(object, plan_file()));
  node::ConfigDisk disk(environment_);
  const auto current = TRY(disk.current());
  const auto interrupted = TRY(disk.next());
  TRY(disk.change(current.value_or(machineconfig::MachineConfig{}), interrupted, live, {}));
  TRY(sys::run_checked(environment_.runner, environment_.context,
                       {.argv = {"systemctl", "daemon-reload"}, .limit = program_limit}));
  return Ok{};
}

Result<> BootstrapHost::start(const WaitReport& report) {
  const auto systemctl = [&](std::vector<std::string> words) -> Result<> {
    words.insert(words.begin(), "systemctl");
    TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(words), .limit = program_limit}));
    return Ok{};
  };
  if (is_single_node_) {
    TRY(sys::run_checked(environment_.runner, environment_.context,
                         {.argv = {"hostname", "--file", "/etc/hostname"}, .limit = program_limit}));
  }
  TRY(systemctl({"start", "--no-block", std::string(release_unit)}));
  TRY(wait(
      "the release image",
      [&]() -> Result<sys::Observation> {
        for (const UnitState& unit : TRY(healthy_units())) {
          if (unit.name == release_unit && unit.active == "active") return sys::Observation::done();
        }
        return sys::Observation::not_yet("{} pulls the release image", release_unit);
      },
      report));
  // bootkube copies the manifests when it starts.
  if (const auto manifest = TRY(environment_.files.read_if_exists(std::string(assist::controller_template)))) {
    const std::string image =
        TRY(sys::run_checked(environment_.runner, environment_.context,
                             {.argv = {"/usr/local/bin/slipway-node", "image-for", std::string(assist::controller_component)},
                              .limit = program_limit}));
    const TemplateValues values = {{std::string(assist::controller_image_hole), std::string(trim(image))}};
    const std::string complete = TRY(fill_template(*manifest, assist::controller_template, values));
    TRY(environment_.files.write(std::string(assist::controller_manifest), complete, 0600));
  }
  std::vector<std::string> words = {"start", "--no-block"};
  for (const BootstrapUnit& unit : bootstrap_units()) {
    if (unit.is_started && (unit.is_of_single_node || !is_single_node_)) words.emplace_back(unit.name);
  }
  return systemctl(std::move(words));
}

Result<> BootstrapHost::stop() {
  if (!TRY(environment_.files.info(plan_file()))) return Ok{};
  // The plan may not be applied, or only a part of it, and systemctl refuses to stop a unit that does not exist.
  std::vector<std::string> argv = {"systemctl", "stop"};
  for (const UnitState& unit : TRY(unit_states())) {
    if (unit.is_loaded) argv.push_back(unit.name);
  }
  if (argv.size() == 2) return Ok{};
  TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv), .limit = program_limit}));
  return Ok{};
}

Result<> BootstrapHost::wait_for_ready_masters(int needed, const WaitReport& report) {
  return wait(
      "ready masters",
      [&]() -> Result<sys::Observation> {
        TRY(healthy_units());
        const int ready = count_ready_masters(TRY(objects(kube::types::nodes, "")));
        if (ready >= needed) return sys::Observation::done();
        return sys::Observation::not_yet("{} of {} masters are ready", ready, needed);
      },
      report);
}

Result<> BootstrapHost::wait_for_bootkube(const WaitReport& report) {
  return wait(
      "the end of the bootstrap",
      [&]() -> Result<sys::Observation> {
        const std::vector<UnitState> units = TRY(healthy_units());
        if (!TRY(environment_.files.info(assets + "/.bootkube.done"))) {
          return sys::Observation::not_yet("bootkube.service has not finished");
        }
        // The report of a single node is made when its API server runs again.
        if (!is_single_node_ && !has_ended(units, "progress.service"))
          return sys::Observation::not_yet("progress.service has not finished");
        return sys::Observation::done();
      },
      report);
}

Result<> BootstrapHost::wait_for_controller(const WaitReport& report) {
  return wait(
      "the controller in the cluster",
      [&]() -> Result<sys::Observation> {
        if (has_controller_report(TRY(objects(kube::types::events, assist::controller_space)))) return sys::Observation::done();
        return sys::Observation::not_yet("{} has not reached the service of the installation", assist::controller_name);
      },
      report);
}

Result<std::vector<UnitState>> BootstrapHost::unit_states() const {
  std::vector<std::string> argv = {"systemctl", "show", fmt::format("--property={}", unit_properties)};
  for (const BootstrapUnit& unit : bootstrap_units()) argv.emplace_back(unit.name);
  return parse_unit_states(
      TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv), .limit = program_limit})));
}

Result<std::vector<UnitState>> BootstrapHost::healthy_units() const {
  std::vector<UnitState> states = TRY(unit_states());
  if (const auto failed = find_failed_unit(states)) return failure_of(*failed);
  return states;
}

Error BootstrapHost::failure_of(const FailedUnit& unit) const {
  const Result<std::string> journal = sys::run_checked(
      environment_.runner, environment_.context,
      {.argv = {"journalctl", "--no-pager", "--output=cat", "--unit", unit.name, "--lines", std::string(journal_lines)},
       .limit = program_limit});
  std::string last = to_utf8(trim(journal.ok() ? journal.value() : journal.error().message()));
  if (last.size() > longest_journal) last = "..." + to_utf8(last.substr(last.size() - longest_journal));
  return error(Code::internal, "{} failed ({}); the end of its journal: {}", unit.name, unit.reason, last);
}

// The cluster may not answer for some time: while its API moves to the masters, only the services of the bootstrap can fail.
Result<std::vector<Json>> BootstrapHost::objects(const kube::ResourceType& type, std::string_view space) const {
  Error first(Code::unavailable, "");
  for (const std::string& path : kubeconfigs) {
    Result<kube::Access> access = kube::read_kubeconfig(environment_.files, path);
    Result<std::vector<Json>> found = std::vector<Json>();
    if (access.ok()) {
      kube::Client api(environment_.http, std::move(access).value());
      found = kube::list_within(environment_.context, api, answer_limit, type, space, {}, nullptr);
      if (found.ok()) return found;
    }
    const Error& why = access.ok() ? found.error() : access.error();
    if (first.message().empty()) first = Error(Code::unavailable, why.message());
  }
  return first;
}

Result<> BootstrapHost::wait(std::string_view what, const std::function<Result<sys::Observation>()>& observe,
                             const WaitReport& report) const {
  std::string reported;
  return sys::wait_for(
      environment_.context, what, no_limit,
      [&]() -> Result<sys::Observation> {
        Result<sys::Observation> seen = observe();
        const bool waits = !seen.ok() ? seen.error().code() == Code::unavailable : !seen->is_done();
        if (!waits) return seen;
        const std::string& reason = seen.ok() ? seen->reason() : seen.error().message();
        // The number of milliseconds until a request failed is no news: each report begins the time limit of the stage again.
        std::string news = seen.ok() ? reason : without_digits(reason);
        if (news == reported) return seen;
        reported = std::move(news);
        report(reason);
        return seen;
      },
      nullptr, pace);
}

}  // namespace slipway::agent
