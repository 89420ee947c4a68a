#include "provider/local/firmware.h"

#include "provider/local/firmware_files.h"
#include "provider/local/ignition.h"
#include "provider/local/network.h"
#include "provider/local/notify_socket.h"
#include "provider/local/preload.h"
#include "provider/local/registry_access.h"
#include "provider/local/shortage.h"

#include "base/text.h"
#include "sys/stages.h"
#include "sys/stolen_time.h"
#include "sys/wait_for.h"

#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

namespace slipway::provider::local {

namespace {

// Time for a machine to shut down before it is killed: longer than the 90 s that systemd gives a unit.
constexpr Milliseconds power_off_limit = Seconds(120);

// For waits that only the user can end.
constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

// This signal makes systemd as init shut down and restart (systemd(1), SIGRTMIN+5).
int restart_signal() { return SIGRTMIN + 5; }

Error cannot_reboot(const MachineStatus& now) {
  return error(Code::conflict, "machine {} is {}, so it cannot be rebooted (start it)", now.name, to_string(now.state));
}

}  // namespace

Machine::Machine(const sys::Context& context, const MachineEnvironment& machine_environment, MachineRecord record)
    : context_(context),
      machine_environment_(machine_environment),
      record_(std::move(record)),
      paths_(machine_environment.paths.machine(record_.name)),
      console_(machine_environment.files, paths_.console()) {
  // A machine with a disk was created by an earlier owner and is switched off.
  const auto disk = machine_environment_.files.info(sys::marker_path(paths_.folder, disk_stage()));
  if (disk.ok() && disk.value()) condition_.with_lock([](Condition& now) { now.state = State::stopped; });
}

Result<> Machine::begin() {
  thread_ = TRY(start_thread([this](std::stop_token end) { run(std::move(end)); }));
  return Ok{};
}

Machine::~Machine() {
  (void)stop();
  thread_ = {};  // ends and joins it
  console_.close();
}

bool Machine::apply_event(MachineEvent cause, std::string reason) {
  std::optional<State> next;
  condition_.with_lock([&](Condition& now) {
    next = after(now.state, cause);
    if (!next) return;
    now.state = *next;
    now.reason = now.state == State::failed || now.state == State::ignition_failed ? reason : "";
  });
  if (!next) return false;
  const bool failed = *next == State::failed || *next == State::ignition_failed;
  sys::Event event{.kind = "machine",
                   .name = record_.name,
                   .phase = failed ? sys::Phase::failed : sys::Phase::progress,
                   .fields = {{"state", to_string(*next)}}};
  if (failed) event.error = Error(*next == State::ignition_failed ? Code::invalid : Code::unavailable, std::move(reason));
  context_.events.emit(std::move(event));
  machine_environment_.changed.notify();
  return true;
}

Result<> Machine::switch_on() {
  if (is_on(status().state)) return Ok{};
  condition_.with_lock([](Condition& now) { now.power = std::stop_source(); });
  if (apply_event(MachineEvent::switched_on)) switched_on_.push(true);
  return Ok{};
}

Result<> Machine::stop() {
  if (!apply_event(MachineEvent::asked_to_stop)) return Ok{};
  // Outside of the lock, because stop callbacks may take other locks.
  std::stop_source power = condition_.with_lock([](const Condition& now) { return now.power; });
  power.request_stop();
  return Ok{};
}

Result<> Machine::reboot() {
  const MachineStatus now = status();
  if (now.leader == 0 || !apply_event(MachineEvent::asked_to_reboot)) return cannot_reboot(now);
  // The process ID cannot be reused: init is a child of systemd-nspawn, which only this machine's thread waits for.
  if (::kill(now.leader, restart_signal()) != 0) return sys::system_error("rebooting " + record_.name);
  return Ok{};
}

Result<> Machine::check_live_boot(bool by_reboot) const {
  if (!record_.is_blank) {
    return error(Code::invalid, "machine {}: has no discovery image (only machines of slipway machine create --blank have one)",
                 record_.name);
  }
  const MachineStatus now = status();
  if (by_reboot && (now.leader == 0 || !after(now.state, MachineEvent::asked_to_reboot))) return cannot_reboot(now);
  if (!by_reboot && is_on(now.state))
    return error(Code::conflict,
                 "machine {} is {}, so it cannot be started from the discovery image (use slipway machine reboot "
                 "--discovery)",
                 record_.name, to_string(now.state));
  return Ok{};
}

Result<> Machine::boot_live_once() { return machine_environment_.files.write(paths_.live_request(), "", 0600); }

void Machine::cut_power() {
  const int leader = condition_.with_lock([](Condition& now) {
    now.is_power_cut = true;
    return now.leader;
  });
  if (leader != 0) ::kill(leader, SIGKILL);
  (void)stop();
}

bool Machine::has_run_ignition() const {
  const auto marker = machine_environment_.files.info(sys::marker_path(paths_.folder, ignition_stage()));
  return marker.ok() && marker.value();
}

MachineStatus Machine::status() const {
  return condition_.with_lock([&](const Condition& now) {
    return MachineStatus{
        .name = record_.name,
        .state = now.state,
        .reason = now.reason,
        .address = machine_environment_.config.network.address(record_.number),
        .deployment = now.deployment.commit.empty() ? "" : fmt::format("{}.{}", now.deployment.commit, now.deployment.serial),
        .boots = now.boots,
        .leader = now.leader,
        .is_live = now.is_live};
  });
}

void Machine::run(std::stop_token end) {
  while (switched_on_.pop(end)) {
    run_until_off(context_.with_stop(condition_.with_lock([](const Condition& now) { return now.power.get_token(); })));
    if (source_ != BootSource::live) continue;
    disk_.reset();
    memory_.reset();
  }
}

void Machine::run_until_off(const sys::Context& context) {
  for (;;) {
    const Result<> prepared = prepare(context);
    if (!prepared.ok()) {
      const bool refused = status().state == State::igniting && prepared.error().code() == Code::invalid;
      apply_event(refused ? MachineEvent::ignition_refused : MachineEvent::broke, prepared.error().message());
      return;
    }
    const Result<BootEnd> ended = boot(context);
    if (!ended.ok()) {
      apply_event(MachineEvent::broke, ended.error().message());
    } else if (ended->status == 0) {
      apply_event(MachineEvent::powered_off);
    } else if (ended->status != restart_status && !ended->is_failed_attempt) {
      apply_event(MachineEvent::broke,
                  fmt::format("init ended with status {} (see the end of the console output)", ended->status));
    } else if (apply_event(MachineEvent::restarted) && is_on(status().state)) {
      continue;
    }
    return;
  }
}

MachinePaths Machine::disk_paths() const {
  if (source_ != BootSource::live) return paths_;
  return {fmt::format("{}/live/{}", machine_environment_.run_folder, record_.name)};
}

std::string Machine::config() const { return source_ == BootSource::live ? paths_.discovery() : paths_.ignition(); }

Result<> Machine::choose_boot_source() {
  source_ = TRY(boot_source(machine_environment_.files, paths_));
  TRY(machine_environment_.files.remove(paths_.live_request()));
  disk_.reset();
  memory_.reset();
  if (source_ == BootSource::live) memory_.emplace(TRY(LiveMemory::mount(machine_environment_.files, disk_paths().folder)));
  if (source_ == BootSource::installation) return remove_config(machine_environment_.files, paths_);
  if (source_ == BootSource::live) return Ok{};
  return take_image(machine_environment_.files, machine_environment_.paths, paths_, {disk_stage(), ignition_stage()});
}

Result<> Machine::prepare(const sys::Context& context) {
  if (record_.is_blank) TRY(choose_boot_source());
  TRY(run_stages(context));
  if (source_ == BootSource::new_image) TRY(finish_image(machine_environment_.files, paths_));
  return Ok{};
}

Result<> Machine::run_stages(const sys::Context& context) {
  const auto known_config = TRY(machine_environment_.files.info(config()));
  return sys::run_stages(context, machine_environment_.files, disk_paths().folder,
                         {
                             {.name = disk_stage(), .run = [this](const sys::Context& c) { return make_new_disk(c); }},
                             {.name = turn_stage(),
                              .needs = {disk_stage()},
                              .run = [this](const sys::Context& c) { return wait_for_removal(c); },
                              .applies = !record_.after.empty()},
                             {.name = ignition_stage(),
                              .needs = {disk_stage(), turn_stage()},
                              .run = [this](const sys::Context& c) { return ignite(c); },
                              .applies = known_config.has_value()},
                         });
}

Result<> Machine::make_new_disk(const sys::Context& context) {
  const std::optional<int> turn = machine_environment_.disk_turns.pop(context.stop);
  if (!turn) return error(Code::cancelled, "stopped before its disk was created");
  Result<> made = make_disk_in_turn(context);
  machine_environment_.disk_turns.push(*turn);
  return made;
}

Result<> Machine::make_disk_in_turn(const sys::Context& context) {
  disk_.reset();
  TRY(make_disk(context, machine_environment_.files, machine_environment_.runner, machine_environment_.config.os_commit,
                machine_environment_.paths, disk_paths()));
  const std::string images = machine_environment_.paths.images();
  if (TRY(machine_environment_.files.info(images)))
    TRY(preload_images(context, machine_environment_.runner, machine_environment_.files, images, disk_paths().var()));
  const std::string disk = TRY(use_disk());
  const Deployment deployment = TRY(newest_deployment(machine_environment_.files, disk));
  const std::string authority =
      TRY(push_authority(machine_environment_.files, machine_environment_.paths, machine_environment_.config));
  std::vector<FirmwareFile> files = firmware_files(record_.name, machine_environment_.config, authority);
  if (source_ == BootSource::live) std::ranges::move(live_files(), std::back_inserter(files));
  for (const FirmwareFile& file : files)
    TRY(machine_environment_.files.write(disk + deployment.path + file.path, file.content, 0644));
  return Ok{};
}

Result<std::string> Machine::use_disk() {
  std::string place = mounted_disk(machine_environment_.run_folder, record_.name);
  const std::string images = mounted_images(machine_environment_.run_folder);
  if (!disk_)
    disk_.emplace(TRY(MountedDisk::mount(machine_environment_.files, machine_environment_.paths, disk_paths(), images, place)));
  return place;
}

Result<> Machine::ignite(const sys::Context& context) {
  // If the last run of Ignition was killed, /etc and /var are in an unknown state, so Ignition starts again on a new disk.
  const std::string started = disk_paths().ignition_begun();
  if (TRY(machine_environment_.files.info(started))) TRY(make_new_disk(context));
  TRY(machine_environment_.files.write(started, "", 0644));
  apply_event(MachineEvent::ignition_started);
  const std::string disk = TRY(use_disk());
  const Deployment deployment = TRY(newest_deployment(machine_environment_.files, disk));
  const std::string network =
      TRY(make_machine_network(context, machine_environment_.runner, machine_environment_.config.network, record_));
  const std::string folder = fmt::format("{}/ignition/{}", machine_environment_.run_folder, record_.name);
  TRY(machine_environment_.files.make_directories(folder, 0700));
  return run_ignition(context, machine_environment_.runner,
                      {.machine = record_.name,
                       .sysroot = disk,
                       .deployment = deployment,
                       .config = config(),
                       .network_namespace = network,
                       .work_folder = folder},
                      [this](std::string_view line) {
                        console_.add(line);
                        const auto result = attempt_result(line);
                        if (result) set_wait_reason(result->empty() ? "" : "waiting for its Ignition config: " + *result);
                      });
}

Result<> Machine::wait_for_removal(const sys::Context& context) {
  set_wait_reason(fmt::format("waiting until {} is removed", record_.after));
  TRY(sys::wait_for(
      context, fmt::format("the removal of {}", record_.after), no_limit,
      [&]() -> Result<sys::Observation> {
        if (!TRY(machine_environment_.files.info(machine_environment_.paths.machine(record_.after).record())))
          return sys::Observation::done();
        return sys::Observation::not_yet("it still exists");
      },
      &machine_environment_.changed));
  set_wait_reason("");
  return Ok{};
}

void Machine::set_wait_reason(std::string reason) {
  condition_.with_lock([&](Condition& now) {
    if (now.state == State::preparing || now.state == State::igniting) now.reason = std::move(reason);
  });
}

void Machine::handle_notification(const std::string& message, const std::function<void()>& ready) {
  const Notification notification = parse_notification(message);
  if (notification.leader) {
    const bool is_power_cut = condition_.with_lock([&](Condition& now) {
      now.leader = *notification.leader;
      return now.is_power_cut;
    });
    if (is_power_cut) ::kill(*notification.leader, SIGKILL);
  }
  if (notification.ready) ready();
}

Result<BootDecision> Machine::count_boot(const std::string& disk) {
  const std::optional<GrubEnvironment> environment = TRY(read_grub_environment(machine_environment_.files, disk));
  if (!environment) return BootDecision{};
  BootDecision decision = decide_boot(*environment);
  if (decision.save) TRY(write_grub_environment(machine_environment_.files, disk, *decision.save));
  if (decision.choice == BootChoice::one_before_newest) {
    console_.add("-- slipway: the newest deployment did not boot three times; booting the one before");
  }
  if (decision.attempts_left) {
    console_.add(fmt::format("-- slipway: attempt {} of 3 to boot the newest deployment; {} left", 3 - *decision.attempts_left,
                             *decision.attempts_left));
  }
  return decision;
}

bool Machine::counts_attempts(const std::string& disk) {
  const auto environment = read_grub_environment(machine_environment_.files, disk);
  if (!environment.ok() || !environment.value()) return false;
  const BootDecision next = decide_boot(*environment.value());
  return next.attempts_left || next.choice == BootChoice::one_before_newest;
}

Result<Machine::PreparedBoot> Machine::prepare_boot(const sys::Context& context) {
  const std::string disk = TRY(use_disk());
  const BootDecision decision = TRY(count_boot(disk).context("counting the boot"));
  const BootTarget target =
      TRY(boot_target(machine_environment_.files, disk, decision.choice).context("finding the deployment to boot"));
  const std::string network =
      TRY(make_machine_network(context, machine_environment_.runner, machine_environment_.config.network, record_));
  TRY(make_cgroups(machine_environment_.files, machine_environment_.hierarchies, machine_environment_.config.id, record_.name));
  const std::string mount_point = fmt::format("{}/machines/{}", machine_environment_.run_folder, record_.name);
  // Each machine has its own files, because a machine can make a read-only bind mount writable.
  const std::string marker = fmt::format("{}/booted/{}", machine_environment_.run_folder, record_.name);
  const std::string arguments = fmt::format("{}/kernel-arguments/{}", machine_environment_.run_folder, record_.name);
  TRY(machine_environment_.files.make_directories(mount_point, 0755));
  TRY(machine_environment_.files.write(marker, "", 0444));
  std::vector<std::string> kernel_arguments = target.entry.arguments;
  std::vector<std::string> hardware;
  if (source_ == BootSource::live) {
    std::ranges::move(live_arguments(target.deployment), std::back_inserter(kernel_arguments));
    hardware = TRY(show_hardware(machine_environment_.files, record_, paths_,
                                 fmt::format("{}/hardware/{}", machine_environment_.run_folder, record_.name)));
  }
  TRY(machine_environment_.files.write(arguments, join(kernel_arguments, " ") + "\n", 0444));
  NspawnInput input{.name = record_.name,
                    .uuid = record_.uuid,
                    .sysroot = disk,
                    .deployment = target.deployment,
                    .mount_point = mount_point,
                    .network_namespace = network,
                    .booted_marker = marker,
                    .kernel_arguments = arguments,
                    .cgroups = cgroup_folders(machine_environment_.hierarchies, machine_environment_.config.id, record_.name),
                    .devices = machine_environment_.devices,
                    .more = std::move(hardware)};
  return PreparedBoot{.input = std::move(input), .is_attempt = decision.attempts_left.has_value()};
}

Result<sys::Output> Machine::run_init(const sys::Context& context, const NspawnInput& input, const std::function<void()>& ready) {
  const NotifySocket notify = TRY(
      NotifySocket::open("slipway/" + record_.name, [&](const std::string& message) { handle_notification(message, ready); }));
  return machine_environment_.runner.run(context,
                                         {.argv = nspawn_command(input),
                                          .environment = {"NOTIFY_SOCKET=" + notify.address()},
                                          .grace = power_off_limit,
                                          .output_limit = 0,
                                          .on_line = [this](sys::Stream, std::string_view line) { console_.add(line); }});
}

Result<> Machine::clean_up_boot() {
  const int leader = condition_.with_lock([](Condition& now) { return std::exchange(now.leader, 0); });
  // Processes that a killed systemd-nspawn did not end, and cgroups that would slow down the next boot.
  const Result<> swept =
      end_cgroups(context_.with_stop({}), machine_environment_.hierarchies, machine_environment_.config.id, record_.name);
  // If systemd-nspawn was killed, init is a child of the owner, which is the init of its process namespace.
  if (leader != 0) ::waitpid(leader, nullptr, WNOHANG);
  return swept;
}

Result<Machine::BootEnd> Machine::boot(const sys::Context& context) {
  const PreparedBoot prepared = TRY(prepare_boot(context));
  const NspawnInput& input = prepared.input;
  const Deployment& deployment = input.deployment;
  condition_.with_lock([&](Condition& now) {
    now.deployment = deployment;
    now.is_live = record_.is_blank && source_ == BootSource::live;
    ++now.boots;
  });
  const bool is_live = record_.is_blank && source_ == BootSource::live;
  console_.add(fmt::format("-- slipway: booting {}.{}{}", deployment.commit, deployment.serial,
                           is_live ? " from the discovery image" : ""));
  apply_event(MachineEvent::booted);

  std::optional<sys::Span> span(std::in_place, context_.events, context_.clock, "boot", record_.name,
                                JsonObject{{"stolen_ms", sys::stolen_time(machine_environment_.files).count()}});
  std::mutex span_mutex;  // the span ends on the socket's thread or on this one
  auto end_span = [&](Result<> result) {
    std::lock_guard lock(span_mutex);
    if (span) (void)span->end(std::move(result));
    span.reset();
  };
  Result<sys::Output> output = run_init(context, input, [&] {
    end_span(Ok{});
    apply_event(MachineEvent::ready);
  });
  const Result<> swept = clean_up_boot();
  if (!output.ok() && output.error().code() == Code::cancelled) output = sys::Output{};  // powered off on request
  if (!swept.ok()) output = swept.error();
  if (!output.ok()) {
    end_span(output.error());
    return std::move(output).error();
  }
  end_span(error(Code::unavailable, "{} ended before its start was complete, exit status {}", record_.name, output->status));
  BootEnd end{.status = output->status};
  // Counting has stopped if the deployment has booted completely. A failure after that is not the deployment's.
  end.is_failed_attempt =
      end.status != 0 && end.status != restart_status && prepared.is_attempt && counts_attempts(input.sysroot);
  if (end.is_failed_attempt) console_.add(fmt::format("-- slipway: init ended with status {}; booting again", end.status));
  return end;
}

}  // namespace slipway::provider::local
