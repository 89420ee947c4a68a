#include "node/os_update/host_updater.h"

#include "base/json.h"
#include "base/text.h"
#include "node/os_update/machine_updater.h"
#include "node/os_update/trial.h"

#include <algorithm>
#include <array>
#include <utility>

namespace slipway::node {

namespace {

constexpr const char* proxy_file = "/etc/mco/proxy.env";

constexpr std::array<std::pair<Trial::State, std::string_view>, 3> state_names = {{
    {Trial::State::none, "none"},
    {Trial::State::on_trial, "on-trial"},
    {Trial::State::failed, "failed"},
}};

std::string_view to_text(Trial::State state) {
  return std::ranges::find(state_names, state, &std::pair<Trial::State, std::string_view>::first)->second;
}

}  // namespace

std::string_view to_text(Wanted wanted) { return wanted == Wanted::next_config ? "next-config" : "first-config"; }

std::vector<std::string> fetch_arguments(const Images& images) {
  std::vector<std::string> arguments = {"fetch", images.os};
  if (images.extensions.empty()) return arguments;
  arguments.push_back(images.extensions);
  arguments.insert(arguments.end(), images.wanted_extensions.begin(), images.wanted_extensions.end());
  return arguments;
}

std::string to_text(const Trial& trial) {
  const Json value = {{"state", to_text(trial.state)}, {"config", trial.config}, {"reason", trial.reason}};
  return emit_json(value, JsonStyle::compact) + "\n";
}

Result<Trial> parse_trial(std::string_view text) {
  const Json value = TRY(parse_json(text, "the answer of slipway-node os trial"));
  const std::string state = TRY(require_string(value, {"state"}));
  const auto found = std::ranges::find(state_names, state, &std::pair<Trial::State, std::string_view>::second);
  if (found == state_names.end()) return error(Code::invalid, "slipway-node os trial: state '{}' is unknown", state);
  Trial trial{.state = found->first};
  trial.config = TRY(require_string(value, {"config"}));
  trial.reason = TRY(require_string(value, {"reason"}));
  return trial;
}

// The proxies of the machine's configuration. Units of the machine read this file; the daemon's container does not have it.
Result<std::vector<std::string>> HostUpdater::proxies() {
  const std::optional<std::string> text = TRY(environment_.files.read_if_exists(proxy_file));
  std::vector<std::string> variables;
  for (const std::string_view line : split(text.value_or(""), '\n')) {
    if (line.find('=') != std::string_view::npos && !line.starts_with('#')) variables.emplace_back(line);
  }
  return variables;
}

Result<std::string> HostUpdater::run(std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"nsenter", "--target=1", "--mount", "--", "/usr/local/bin/slipway-node", "os"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  sys::Command command{.argv = std::move(argv)};
  command.environment = TRY(proxies());
  command.on_line = [&](sys::Stream stream, std::string_view line) {
    if (stream == sys::Stream::err) environment_.context.log.info("os: {}", line);
  };
  return sys::run_checked(environment_.runner, environment_.context, command);
}

Result<> HostUpdater::fetch(const Images& images) {
  TRY(run(fetch_arguments(images)));
  return Ok{};
}

Result<> HostUpdater::check(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to) {
  return check_machine(environment_, from, to);
}

Result<> HostUpdater::stage(Wanted wanted) {
  TRY(run({"stage", std::string(to_text(wanted))}));
  return Ok{};
}

// Without a record there is no need for a process.
Result<Trial> HostUpdater::trial() {
  if (!TRY(read_trial_record(environment_.files))) return Trial{};
  return parse_trial(TRY(run({"trial"})));
}

Result<> HostUpdater::accept() {
  TRY(run({"accept"}));
  return Ok{};
}

Result<> HostUpdater::forget() {
  TRY(run({"forget"}));
  return Ok{};
}

}  // namespace slipway::node
