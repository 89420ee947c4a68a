#include "node/daemon.h"

#include "base/flags.h"
#include "base/guarded.h"
#include "base/text.h"
#include "kube/conditions.h"
#include "kube/pod_access.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/update_plan.h"
#include "node/os_build/leftovers.h"
#include "node/os_update/host_updater.h"
#include "node/os_update/image_source.h"
#include "node/volumes.h"
#include "sys/root.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace slipway::node {

namespace {

namespace mc = machineconfig;
using mc::MachineConfig;
using mc::MachineState;

constexpr const char* component = "machineconfigdaemon";
const std::string first_annotations = "/etc/machine-config-daemon/node-annotations.json";
const std::string first_annotations_done = "/etc/machine-config-daemon/node-annotation.json.bak";
constexpr std::string_view drain = "drain-", uncordon = "uncordon-";
constexpr std::size_t longest_reason = 2000;

constexpr Milliseconds between_checks = std::chrono::minutes(5);
constexpr Milliseconds first_config_limit = std::chrono::minutes(5);
constexpr sys::Pace retry_pace{Milliseconds(5'000), Milliseconds(60'000)};
constexpr sys::Pace api_pace{Milliseconds(500), Milliseconds(15'000)};

// The annotations of the daemon for the state of its machine; null removes one.
JsonObject current_annotations(const MachineState& state) {
  return {{mc::current_config, state.config}, {mc::current_image, state.image.empty() ? Json() : Json(state.image)}};
}

}  // namespace

Daemon::Daemon(const Environment& environment, kube::Api& api, OsUpdater& os)
    : environment_(environment), api_(api), os_(os), disk_(environment) {}

std::string Daemon::annotation(std::string_view name) const { return text_of(node_, {"metadata", "annotations", name}); }

Result<Daemon::Next> Daemon::step(const Json& node) {
  node_ = node;
  Result<std::optional<MachineConfig>> current = disk_.current();
  if (current.ok() && !current.value()) {
    Result<std::optional<MachineConfig>> first = first_config();
    if (!first.ok()) return std::move(first).error();
    if (!first.value()) return Next::retry;
    current = std::move(first);
  }
  if (!current.ok()) return fail(mc::state_degraded, current.error());
  const MachineState state = mc::state_of(*current.value());
  Result<std::optional<MachineConfig>> interrupted = disk_.next();
  Result<std::optional<AfterUpdate>> after = disk_.after_update();
  const Result<bool> is_forced = disk_.is_forced();
  if (!interrupted.ok()) return fail(mc::state_degraded, interrupted.error());
  if (!after.ok()) return fail(mc::state_degraded, after.error());
  if (!is_forced.ok()) return fail(mc::state_degraded, is_forced.error());
  const MachineState desired = mc::desired_state(node_);
  const bool is_other = !desired.config.empty() && desired != state;
  const bool has_actions = after.value() && after.value()->config == state.text();
  // If an action fails, another config ends the attempts. A reboot then does what the remaining actions would have done.
  const bool is_abandoned = has_actions && is_other && !after.value()->actions.reboot;
  if (has_actions && !is_abandoned) return finish(state, after.value()->actions);
  if (interrupted.value() && mc::state_of(*interrupted.value()) == state) {
    if (const Result<> forgotten = disk_.forget_next(); !forgotten.ok()) return fail(mc::state_degraded, forgotten.error());
    interrupted.value().reset();
  }
  if (const std::optional<Next> unfinished = TRY(end_trial(*current.value(), interrupted.value()))) return *unfinished;
  if (!is_other && !interrupted.value() && !is_forced.value()) {
    const Result<std::optional<std::string>> drift = disk_.find_drift({&*current.value()});
    if (!drift.ok()) return fail(mc::state_degraded, drift.error());
    if (drift.value()) return fail(mc::state_degraded, error(Code::conflict, "files of this machine are {}", *drift.value()));
    const Next next = TRY(settle(state));
    if (annotation(mc::daemon_state) == mc::state_done) fetch_coming(*current.value());
    return next;
  }
  return update(*current.value(), std::move(interrupted).value(),
                is_forced.value() ? Reason::forced
                : is_abandoned    ? Reason::abandoned
                                  : Reason::config);
}

// Returns nothing when the error was reported on the Node.
Result<std::optional<MachineConfig>> Daemon::first_config() {
  using Found = std::optional<MachineConfig>;
  const auto failed = [&](const Error& why) -> Result<Found> {
    TRY(fail(mc::state_degraded, why));
    return Found();
  };
  std::string name = annotation(mc::current_config), image = annotation(mc::current_image);
  const Result<std::optional<std::string>> text = environment_.files.read_if_exists(first_annotations);
  if (!text.ok()) return failed(text.error());
  if (text.value()) {
    const Result<Json> written = parse_json(*text.value(), first_annotations);
    if (!written.ok()) return failed(written.error());
    name = find_string(written.value(), {mc::current_config}).value_or("");
    image = find_string(written.value(), {mc::current_image}).value_or("");
  }
  if (name.empty()) {
    return failed(error(
        Code::not_found,
        "the config of this machine is unknown: {} does not exist, and its Node does not have it (create the machine again)",
        first_annotations));
  }
  // During an installation, machines exist before their configs.
  const auto missing = [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
    if (found.empty()) return std::optional<std::string>("it does not exist in the cluster");
    return std::optional<std::string>();
  };
  const Result<> exists =
      kube::wait_until(environment_.context, api_, fmt::format("MachineConfig {}, which this machine was created with", name),
                       first_config_limit, kube::types::machine_configs, "", {.fields = "metadata.name=" + name}, missing);
  if (!exists.ok()) {
    if (exists.error().code() != Code::timeout) return exists.error();
    return failed(exists.error());
  }
  Result<MachineConfig> config = fetch(name);
  if (!config.ok()) return config.error().code() == Code::invalid ? failed(config.error()) : std::move(config).error();
  MachineConfig first = mc::with_image(std::move(config).value(), image);
  if (const Result<> set = disk_.set_current(first); !set.ok()) return failed(set.error());
  if (text.value()) {
    if (const Result<> moved = environment_.files.rename(first_annotations, first_annotations_done); !moved.ok()) {
      return failed(moved.error());
    }
  }
  return Found(std::move(first));
}

// Whether the kubelet has reported since this start of the machine that the Node is Ready.
bool Daemon::is_ready_since_boot() const {
  const Result<std::optional<std::string>> boot = environment_.files.read_if_exists("/proc/sys/kernel/random/boot_id");
  if (!boot.ok() || trim(boot->value_or("")) != text_of(node_, {"status", "nodeInfo", "bootID"})) return false;
  return kube::condition_status(node_, "Ready") == "True";
}

// Returns what is next if the trial of an operating system decides it; nothing if there is no trial any more. Takes back an
// interrupted change of files if the trial failed.
Result<std::optional<Daemon::Next>> Daemon::end_trial(const MachineConfig& current, std::optional<MachineConfig>& interrupted) {
  using Decision = std::optional<Next>;
  const auto failed = [&](const Error& why) -> Result<Decision> { return Decision(TRY(fail(mc::state_degraded, why))); };
  const Result<Trial> trial = os_.trial();
  if (!trial.ok()) return failed(trial.error());
  if (trial->state == Trial::State::none) return Decision();
  if (trial->state == Trial::State::on_trial) {
    if (!is_ready_since_boot()) return Decision(Next::wait);
    if (const Result<> accepted = os_.accept(); !accepted.ok()) return failed(accepted.error());
    emit("Normal", "OSUpdateAccepted",
         "this machine keeps the operating system and the kernel arguments of " + mc::state_of(current).text());
    return Decision();
  }
  if (interrupted) {
    if (const Result<> back = disk_.go_back(current, *interrupted); !back.ok()) return failed(back.error());
    interrupted.reset();
  }
  if (mc::desired_state(node_).text() == trial->config) return failed(error(Code::unavailable, "{}", trial->reason));
  if (const Result<> forgotten = os_.forget(); !forgotten.ok()) return failed(forgotten.error());
  return Decision();
}

Result<> Daemon::fetch_os(const MachineConfig& wanted) {
  const Images images = TRY(images_of(wanted));
  return images == Images{} ? Result<>(Ok{}) : os_.fetch(images);
}

// The files of the running deployment stay as they are, so that it can run again.
Result<> Daemon::change_os(const MachineConfig& current, const std::optional<MachineConfig>& interrupted,
                           const MachineConfig& wanted) {
  if (interrupted && mc::state_of(*interrupted) != mc::state_of(wanted)) TRY(disk_.go_back(current, *interrupted));
  TRY(disk_.set_next(wanted));
  TRY(os_.stage(Wanted::next_config));
  emit("Normal", "OSUpdateStaged",
       "the next start of this machine has the operating system and the kernel arguments of " + mc::state_of(wanted).text());
  return Ok{};
}

Result<Daemon::Next> Daemon::update(const MachineConfig& current, std::optional<MachineConfig> interrupted, Reason reason) {
  const MachineState desired = mc::desired_state(node_), before = mc::state_of(current);
  MachineConfig wanted = current;
  if (!desired.config.empty() && desired != before) {
    Result<MachineConfig> fetched = fetch(desired.config);
    if (!fetched.ok()) {
      const Code code = fetched.error().code();
      if (code == Code::invalid || code == Code::not_found) return fail(mc::state_degraded, fetched.error());
      return std::move(fetched).error();
    }
    wanted = mc::with_image(std::move(fetched).value(), desired.image);
  }
  const MachineState after = mc::state_of(wanted);
  for (const Result<>& checked : {mc::check_reconcilable(current, wanted), mc::check_changeable(current, wanted)}) {
    if (!checked.ok()) {
      return fail(mc::state_unreconcilable, error(Code::invalid, "cannot update from {} to {}: {}", before.text(), after.text(),
                                                  checked.error().message()));
    }
  }
  std::vector<const MachineConfig*> allowed{&current};
  if (interrupted) allowed.push_back(&*interrupted);
  if (reason != Reason::forced) {
    const Result<std::optional<std::string>> drift = disk_.find_drift(allowed);
    if (!drift.ok()) return fail(mc::state_degraded, drift.error());
    if (drift.value()) return fail(mc::state_degraded, error(Code::conflict, "files of this machine are {}", *drift.value()));
  }
  const mc::Differences differences = mc::differences(current, wanted);
  mc::Actions actions{.reboot = true};
  if (reason == Reason::config) actions = mc::actions_for(differences, TRY(disruption_policy()));
  TRY(report(mc::state_working, "", current_annotations(before)));
  // Before the drain: from then on the machine needs no network until it has started again.
  if (differences.os_image || differences.extensions) {
    if (const Result<> fetched = fetch_os(wanted); !fetched.ok()) return fail(mc::state_degraded, fetched.error());
  }
  if (differences.changes_os()) {
    if (const Result<> possible = os_.check(current, wanted); !possible.ok()) {
      const bool is_final = possible.error().code() == Code::invalid;
      return fail(is_final ? mc::state_unreconcilable : mc::state_degraded,
                  error(possible.error().code(), "cannot update from {} to {}: {}", before.text(), after.text(),
                        possible.error().message()));
    }
  }
  if (actions.needs_drain() && !TRY(has_drained(std::string(drain) + after.text()))) return Next::wait;
  sys::Span span(environment_.context.events, environment_.context.clock, "machine-config", after.text());
  const Result<> changed = span.end(differences.changes_os() ? change_os(current, interrupted, wanted)
                                                             : disk_.change(current, interrupted, wanted, actions));
  if (!changed.ok()) {
    if (changed.error().code() == Code::cancelled) return changed.error();
    return fail(mc::state_degraded, error(changed.error().code(), "updating to {}: {}", after.text(), changed.error().message()));
  }
  return finish(after, actions);
}

// The actions that follow an update of the disk. The machine reboots even when the API cannot be reached: the update may be what
// restores access to it.
Result<Daemon::Next> Daemon::finish(const MachineState& state, const mc::Actions& actions) {
  const auto run = [&](std::vector<std::string> argv) {
    const sys::Command command{.argv = std::move(argv), .environment = {systemctl_environment}};
    return sys::run_checked(environment_.runner, environment_.context, command);
  };
  if (actions.reboot) {
    if (const Result<> reported = report(mc::state_rebooting, ""); !reported.ok()) {
      environment_.context.log.warn("{}; rebooting anyway", reported.error().message());
    }
    emit("Normal", "Reboot", "rebooting into " + state.text());
    const Result<std::string> reboot = run({"systemctl", "reboot"});
    if (!reboot.ok()) return fail(mc::state_degraded, reboot.error());
    return Next::leave;
  }
  for (const mc::ServiceAction& service : actions.services) {
    std::vector<std::string> argv = {"systemctl", service.verb};
    if (!service.unit.empty()) argv.push_back(service.unit);
    const Result<std::string> output = run(std::move(argv));
    if (!output.ok()) {
      return fail(mc::state_degraded,
                  error(output.error().code(), "{} (reboot this machine, or give it another config, to go on without it)",
                        output.error().message()));
    }
  }
  if (const Result<> forgotten = disk_.forget_after_update(); !forgotten.ok()) return fail(mc::state_degraded, forgotten.error());
  return settle(state);
}

Result<Daemon::Next> Daemon::settle(const MachineState& current) {
  const std::string requested = annotation(mc::desired_drain);
  if (!requested.empty() && !TRY(has_drained(requested.starts_with(drain) ? std::string(uncordon) + current.text() : requested)))
    return Next::wait;
  JsonObject names = current_annotations(current);
  if (annotation(mc::desired_config).empty()) {
    names[mc::desired_config] = current.config;
    if (!current.image.empty()) names[mc::desired_image] = current.image;
  }
  TRY(report(mc::state_done, "", std::move(names)));
  return Next::wait;
}

// While other machines restart. What fails is fetched again, and told, when it is the turn of this machine.
void Daemon::fetch_coming(const MachineConfig& current) {
  const MachineState coming = mc::coming_state(node_);
  if (coming.config.empty() || std::exchange(tried_coming_, coming.text()) == coming.text()) return;
  const auto fetch_images = [&]() -> Result<> {
    const MachineConfig wanted = mc::with_image(TRY(fetch(coming.config)), coming.image);
    const mc::Differences differences = mc::differences(current, wanted);
    return differences.os_image || differences.extensions ? fetch_os(wanted) : Ok{};
  };
  if (const Result<> fetched = fetch_images(); !fetched.ok()) {
    environment_.context.log.info("fetching {} early: {}", coming.text(), fetched.error().message());
  }
}

Result<bool> Daemon::has_drained(const std::string& request) {
  if (annotation(mc::desired_drain) != request) {
    TRY(report(annotation(mc::daemon_state), annotation(mc::daemon_reason), {{mc::desired_drain, request}}));
    environment_.context.log.info("requested {}", request);
  }
  return annotation(mc::last_applied_drain) == request;
}

Result<Daemon::Next> Daemon::fail(std::string_view state, const Error& why) {
  if (why.code() == Code::cancelled) return why;
  if (annotation(mc::daemon_state) != state || annotation(mc::daemon_reason) != why.message().substr(0, longest_reason)) {
    environment_.context.log.error("{}: {}", state, why.message());
  }
  TRY(report(state, why.message()));
  return Next::retry;
}

Result<> Daemon::report(std::string_view state, std::string_view reason, JsonObject more) {
  const std::string before = annotation(mc::daemon_state);
  more[mc::daemon_state] = state;
  more[mc::daemon_reason] = to_utf8(reason.substr(0, longest_reason));
  JsonObject news;
  for (const auto& member : more) {
    const auto known = find_string(node_, {"metadata", "annotations", member.key()});
    const bool is_removed = member.value().is_null();
    const bool is_same = is_removed ? !known : known.value_or("") == member.value().as_string();
    if (!is_same) news[member.key()] = member.value();
  }
  if (news.empty()) return Ok{};
  const Json patch = {{"metadata", {{"annotations", std::move(news)}}}};
  node_ = TRY(kube::merge_patch(environment_.context, api_, kube::types::nodes, "", kube::name_of(node_), patch));
  if (state == before) return Ok{};
  environment_.context.log.info("this machine is {}", state);
  if (state == mc::state_degraded || state == mc::state_unreconcilable) {
    emit("Warning", state, reason);
  } else if (state == mc::state_done && !before.empty()) {
    emit("Normal", "NodeDone",
         "this machine has " + MachineState{annotation(mc::current_config), annotation(mc::current_image)}.text());
  }
  return Ok{};
}

Result<MachineConfig> Daemon::fetch(const std::string& name) {
  const Json object = TRY(kube::get(environment_.context, api_, kube::types::machine_configs, "", name));
  return mc::parse_machine_config(object, "MachineConfig " + name);
}

// Read from the object itself, not from a status of it that the operator still has to write: a policy that was applied before a
// MachineConfig counts for it.
Result<mc::DisruptionPolicy> Daemon::disruption_policy() {
  const Result<Json> object =
      kube::get(environment_.context, api_, kube::types::machine_configurations, "", mc::machine_configuration_name);
  if (!object.ok() && object.error().code() != Code::not_found) return object.error();
  return mc::policy_in_force(object.ok() ? object.value() : Json()).policy;
}

// For display; the Node has the same state in its annotations.
void Daemon::emit(std::string_view type, std::string_view reason, std::string_view message) {
  const Result<> emitted = kube::emit_event(environment_.context, api_, node_, component, type, reason, message);
  if (!emitted.ok()) environment_.context.log.debug("{}", emitted.error().message());
}

namespace {

// What the watch threads pass to the thread that acts.
struct ObservedState {
  std::optional<Json> node{};
  std::string kubelet_ca{};
};

// Acts on each change, and periodically. Threads: watches write, one thread acts.
class DaemonLoop {
 public:
  DaemonLoop(const Environment& environment, kube::Api& api, OsUpdater& os)
      : environment_(environment), disk_(environment), daemon_(environment, api, os) {}

  void take_node(const kube::Objects& found) {
    if (found.empty()) return;
    const bool has_changed = observed_.with_lock([&](ObservedState& observed) {
      const bool differs = !observed.node || written_by_others(*observed.node) != written_by_others(found[0]);
      observed.node = found[0];
      return differs;
    });
    if (has_changed) changed_.notify();
  }

  Result<> take_controller(const kube::Objects& found) {
    if (found.empty()) return Ok{};
    const Result<mc::ControllerConfig> parsed = mc::parse_controller_config(found[0], "ControllerConfig");
    if (!parsed.ok()) {
      environment_.context.log.error("{}; the kubelet keeps its current authorities", parsed.error().message());
      return Ok{};
    }
    const bool has_changed = observed_.with_lock([&](ObservedState& observed) {
      return std::exchange(observed.kubelet_ca, parsed->kubelet_client_ca) != parsed->kubelet_client_ca;
    });
    if (has_changed) changed_.notify();
    return Ok{};
  }

  Result<> run(const sys::Context& context) {
    Milliseconds retry = retry_pace.first, api_retry = api_pace.first;
    std::string desired;
    while (!context.stop.stop_requested()) {
      const std::uint64_t count = changed_.count();
      const ObservedState observed = observed_.with_lock([](const ObservedState& now) { return now; });
      if (const Result<> written = disk_.keep_kubelet_ca(observed.kubelet_ca); !written.ok()) {
        context.log.error("{}; the kubelet keeps its current authorities", written.error().message());
      }
      Milliseconds pause = between_checks;
      if (observed.node) {
        const std::string requested = mc::desired_state(*observed.node).text();
        if (std::exchange(desired, requested) != requested) retry = retry_pace.first;
        const Result<Daemon::Next> next = daemon_.step(*observed.node);
        if (!next.ok()) {
          if (next.error().code() == Code::denied || next.error().code() == Code::cancelled) return next.error();
          context.log.warn("{}; retrying", next.error().message());
          pause = std::exchange(api_retry, std::min(api_retry * 2, api_pace.longest));
        } else {
          api_retry = api_pace.first;
          if (next.value() == Daemon::Next::retry)
            pause = std::exchange(retry, std::min(retry * 2, retry_pace.longest));
          else
            retry = retry_pace.first;
        }
      }
      context.clock.wait(context.clock.steady() + pause, context.stop, &changed_, count);
    }
    return Ok{};
  }

 private:
  // What other programs write to a Node for this one.
  static std::array<std::string, 6> written_by_others(const Json& node) {
    return {text_of(node, {"metadata", "annotations", mc::desired_config}),
            text_of(node, {"metadata", "annotations", mc::desired_image}), mc::coming_state(node).text(),
            text_of(node, {"metadata", "annotations", mc::last_applied_drain}), text_of(node, {"status", "nodeInfo", "bootID"}),
            std::string(kube::condition_status(node, "Ready"))};
  }

  const Environment& environment_;
  ConfigDisk disk_;
  Daemon daemon_;
  Guarded<ObservedState> observed_;
  sys::Wakeup changed_;
};

// Units of the machine and HostUpdater run this copy. It replaces one of another release. A running program keeps its file.
Result<> copy_program(sys::Files& files, const std::string& root) {
  const auto copy = [&](const std::string& from, const std::string& to) -> Result<> {
    const std::string content = TRY(files.read(from));
    if (TRY(files.read_if_exists(to)) == content) return Ok{};
    return files.write(to, content, 0755);
  };
  const std::string libraries = "/usr/lib/slipway";
  if (TRY(files.info(libraries))) {
    const std::vector<std::string> names = TRY(files.list(libraries));
    for (const std::string& name : names) TRY(copy(libraries + "/" + name, root + "/usr/local/lib/slipway/" + name));
  }
  return copy("/proc/self/exe", root + "/usr/local/bin/slipway-node");
}

}  // namespace

Result<> keep_configured(const Environment& environment, kube::Api& api, OsUpdater& os, const std::string& node_name) {
  TRY(remove_os_image_source(environment.files));
  DaemonLoop keeper(environment, api, os);
  sys::TaskGroup tasks(environment.context);
  tasks.run("following the Node", [&](const sys::Context& context) {
    return kube::follow(context, api, kube::types::nodes, "", {.fields = "metadata.name=" + node_name},
                        [&](const kube::Objects& found) -> Result<> {
                          keeper.take_node(found);
                          return Ok{};
                        });
  });
  tasks.run("following the ControllerConfig", [&](const sys::Context& context) {
    return kube::follow(context, api, kube::types::controller_configs, "", {.fields = "metadata.name=machine-config-controller"},
                        [&](const kube::Objects& found) { return keeper.take_controller(found); });
  });
  tasks.run("", [&](const sys::Context& context) { return keeper.run(context); });
  Result<> ended = tasks.wait();
  if (!ended.ok() && ended.error().code() == Code::cancelled) return Ok{};
  return ended;
}

Result<> run_daemon(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("machine-config-daemon start",
                                      {{.name = "node-name", .required = true},
                                       {.name = "root-mount", .required = true, .fallback = "/rootfs"},
                                       {.name = "kubeconfig"}},
                                      arguments));
  const std::string& kubeconfig = flags.text("kubeconfig");
  kube::Access access =
      TRY(kubeconfig.empty() ? kube::pod_access(environment.files) : kube::read_kubeconfig(environment.files, kubeconfig));
  if (const std::string& root = flags.text("root-mount"); root != "/") {
    TRY(copy_program(environment.files, root).context("copying slipway-node to the machine"));
    TRY(sys::enter_root(root));
  }
  kube::Client api(environment.http, std::move(access));
  HostUpdater os(environment);
  // Beside the rest, because a storage has many files.
  const std::jthread cleaner([&] {
    const Result<> removed = remove_leftovers_of_builds(environment.context, environment.files);
    if (!removed.ok()) environment.context.log.warn("removing what builds of OS images left: {}", removed.error().message());
  });
  // A failure of the one does not stop the other.
  const std::string& node_name = flags.text("node-name");
  const std::jthread volumes([&](const std::stop_token& stop) {
    const sys::Context context = environment.context.with_stop(stop);
    keep_volumes(environment.with(context), api, node_name, std::string(kube::volumes_folder));
  });
  return keep_configured(environment, api, os, node_name);
}

}  // namespace slipway::node
