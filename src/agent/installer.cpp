#include "agent/installer.h"

#include "agent/bootstrap_host.h"
#include "agent/disk_checks.h"
#include "agent/disks.h"
#include "agent/logs.h"
#include "agent/medium.h"
#include "agent/node_config.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "sys/disk_copy.h"
#include "sys/stages.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

namespace slipway::agent {

namespace {

const std::string image_on_medium = std::string(medium_folders[0]) + "/images/disk.raw.zst";
constexpr int needed_masters = 2;
constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);  // the service limits how long a stage may take
constexpr Milliseconds program_limit = std::chrono::minutes(30);
constexpr sys::Pace masters_pace{Milliseconds(1'000), Milliseconds(5'000)};

std::string request_file(const std::string& folder) { return folder + "/request.json"; }
std::string failed_file(const std::string& folder) { return folder + "/failed"; }

std::string text_of_request(const InstallRequest& request) {
  return emit_json(Json{{"cluster_id", request.cluster_id},
                        {"role", request.role},
                        {"disk", request.disk},
                        {"masters_needed", request.masters_needed},
                        {"waits_for_hosts", request.waits_for_hosts},
                        {"is_single_node", request.is_single_node}},
                   JsonStyle::compact);
}

// The work of one installation.
class Installation {
 public:
  Installation(const net::Environment& environment, const SystemTree& tree, const ServiceClient& service, std::string folder,
               InstallRequest request)
      : environment_(environment),
        tree_(tree),
        service_(service),
        folder_(std::move(folder)),
        request_(std::move(request)),
        local_disk_(local_disk_of(tree.text("/proc/cmdline"))),
        bootstrap_(environment, folder_, request_.is_single_node) {}

  void run() {
    // The agent was killed before the service knew.
    const Result<std::optional<std::string>> failed = environment_.files.read_if_exists(failed_file(folder_));
    if (failed.ok() && failed.value()) return report("Failed", std::string(trim(*failed.value())));
    const Result<> done = sys::run_stages(environment_.context, environment_.files, folder_, stages());
    if (done.ok() || environment_.context.stop.stop_requested()) return;
    environment_.context.log.error("the installation failed: {}", done.error().message());
    send_logs_if_possible();
    (void)environment_.files.write(failed_file(folder_), done.error().message() + "\n", 0600);
    report("Failed", done.error().message());
  }

 private:
  std::vector<sys::Stage> stages() {
    std::vector<sys::Stage> stages;
    for (const InstallStage& stage : install_stages(request_, local_disk_.has_value())) {
      // With the context of the stage: when a stage fails, those beside it are asked to stop, and some would wait for ever.
      const auto work = [this, stage](const sys::Context& context) {
        const net::Environment own = environment_.with(context);
        return Installation(own, tree_, service_, folder_, request_).run(stage);
      };
      stages.push_back({.name = stage.name, .needs = stage.needs, .run = work});
    }
    return stages;
  }

  Result<> run(const InstallStage& stage) {
    if (!stage.reports.empty()) report(std::string(stage.reports), stage.work == Work::none ? request_.role : "");
    if (environment_.context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    const auto waits_for = [&](const std::string& reason) {
      if (!stage.reports.empty()) report_if_possible(std::string(stage.reports), reason);
    };
    switch (stage.work) {
      case Work::none: return Ok{};
      case Work::fetch_bootstrap_config: return fetch_bootstrap_config();
      case Work::plan_live_config: return bootstrap_.plan();
      case Work::apply_live_config: return bootstrap_.apply();
      case Work::start_bootstrap: return bootstrap_.start(waits_for);
      case Work::fetch_config: return fetch_config();
      case Work::complete_config: return complete_config();
      case Work::unpack_image: return unpack_image();
      case Work::add_config: return add_config();
      case Work::write_disk: return write_disk();
      case Work::write_local_disk: return write_local_disk();
      case Work::wait_for_masters: return wait_for_masters();
      case Work::wait_for_ready_masters: return bootstrap_.wait_for_ready_masters(request_.masters_needed, waits_for);
      case Work::wait_for_bootkube: return bootstrap_.wait_for_bootkube(waits_for);
      case Work::wait_for_controller: return bootstrap_.wait_for_controller(waits_for);
      case Work::wait_for_hosts: return wait_for_hosts(waits_for);
      case Work::send_logs: return send_logs_if_possible(), Ok{};
      case Work::reboot: return reboot();
    }
    return Ok{};
  }

  std::string served_config_file() const { return folder_ + "/host.ign"; }
  std::string config_file() const { return request_.is_single_node ? folder_ + "/node.ign" : served_config_file(); }
  std::string image_file() const { return folder_ + "/disk.raw"; }

  void report(const std::string& stage, const std::string& info) {
    const Json body = {{"current_stage", stage}, {"progress_info", info}};
    const Result<net::Answer> answer = service_.deliver(environment_.context, "PUT", service_.host_path() + "/progress", body);
    if (answer.ok() || answer.error().code() == Code::cancelled) return;
    environment_.context.log.warn("the service does not take stage '{}': {}; continuing", stage, answer.error().message());
  }

  // Only news: the work does not wait for a service that is away.
  void report_if_possible(const std::string& stage, const std::string& info) {
    const Json body = {{"current_stage", stage}, {"progress_info", info}};
    (void)service_.send_json(environment_.context, "PUT", service_.host_path() + "/progress", body);
  }

  // The service gives it only to the host that carries the bootstrap.
  Result<> fetch_bootstrap_config() {
    const std::string path = fmt::format("/v2/clusters/{}/downloads/files?file_name=bootstrap.ign", request_.cluster_id);
    const net::Answer answer = TRY(service_.fetch(environment_.context, path));
    return environment_.files.write(bootstrap_.config_file(), answer.body, 0600);
  }

  Result<> fetch_config() {
    const net::Answer answer = TRY(service_.fetch(environment_.context, service_.host_path() + "/downloads/ignition"));
    const ignition::Parsed parsed = TRY(ignition::parse_text(answer.body, "config of this host"));
    TRY(parsed.findings.to_result());
    return environment_.files.write(served_config_file(), answer.body, 0600);
  }

  Result<> complete_config() {
    const std::string bootstrapped = TRY(environment_.files.read(std::string(bootstrapped_node_config)));
    const std::string served = TRY(environment_.files.read(served_config_file()));
    const std::string config = TRY(node_config(bootstrapped, served));
    return environment_.files.write(config_file(), config, 0600);
  }

  Result<> run_program(std::vector<std::string> argv) {
    TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv), .limit = program_limit}));
    return Ok{};
  }

  // The image is made complete in memory, so that it is read back from the disk as a whole, with its config.
  Result<> unpack_image() {
    const std::optional<sys::FileInfo> image = TRY(environment_.files.info(image_on_medium));
    if (!image) {
      return error(Code::not_found, "{}: does not exist (boot a discovery image that contains the disk image)", image_on_medium);
    }
    return run_program({"zstd", "--decompress", "--force", "--quiet", "--sparse", image_on_medium, "-o", image_file()});
  }

  Result<> add_config() {
    const std::string table =
        TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = {"sfdisk", "--json", image_file()}}));
    const std::uint64_t offset = TRY(boot_offset(table));
    const std::string place = folder_ + "/boot";
    TRY(environment_.files.make_directories(place, 0700));
    // A mount that a killed agent left behind.
    (void)environment_.runner.run(environment_.context, {.argv = {"umount", "--quiet", "--recursive", place}});
    TRY(run_program({"mount", "-o", fmt::format("loop,offset={}", offset), image_file(), place}));
    const Result<std::string> config = environment_.files.read(config_file());
    const Result<> written =
        config.ok() ? environment_.files.write(place + "/ignition/config.ign", config.value(), 0600) : config.error();
    const Result<> unmounted = run_program({"umount", place});
    TRY(written);
    return unmounted;
  }

  Result<> write_disk() {
    const std::optional<sys::FileInfo> image = TRY(environment_.files.info(image_file()));
    if (!image) return error(Code::not_found, "{}: does not exist", image_file());
    // The disk may be in use by now.
    TRY(find_installation_disk(read_disks(tree_), request_.disk));
    std::uint64_t done = 0;
    int reported = 0;
    const auto on_bytes = [&](std::uint64_t bytes) {
      done += bytes;
      const std::optional<std::string> percent = next_percent(done, 2 * image->size, reported);
      if (!percent) return;
      report_if_possible("Writing image to disk", *percent);
    };
    TRY(sys::copy_to_disk(environment_.context, image_file(), request_.disk, on_bytes));
    // The backup of the partition table goes to the end of the disk.
    TRY(run_program({"sfdisk", "--quiet", "--relocate", "gpt-bak-std", request_.disk}));
    return environment_.files.remove(image_file());
  }

  // The commit is written last: with it, the firmware boots from the disk.
  Result<> write_local_disk() {
    const std::string config = TRY(environment_.files.read(config_file()));
    TRY(environment_.files.write(local_disk_->folder + "/config.ign", config, 0600));
    const Json image = {{"commit", local_disk_->commit}};
    TRY(environment_.files.write(local_disk_->folder + "/image.json", emit_json(image, JsonStyle::compact), 0600));
    report_if_possible("Writing image to disk", "100%");
    return Ok{};
  }

  Result<Json> hosts_of_cluster() {
    const net::Answer answer =
        TRY(service_.fetch(environment_.context, fmt::format("/v2/clusters/{}/hosts", request_.cluster_id)));
    return parse_json(answer.body, "hosts of the cluster");
  }

  Result<> wait_for_masters() {
    return sys::wait_for(
        environment_.context, "two masters", no_limit,
        [&]() -> Result<sys::Observation> {
          const Json hosts = TRY(hosts_of_cluster());
          const int count = count_masters_that_are_done(hosts);
          if (count >= needed_masters || are_added_later(hosts)) return sys::Observation::done();
          return sys::Observation::not_yet("{} of {} are done", count, needed_masters);
        },
        nullptr, masters_pace);
  }

  // A report of the same text would begin the time limit of the stage again.
  Result<> wait_for_hosts(const WaitReport& report) {
    std::string reported;
    return sys::wait_for(
        environment_.context, "the other hosts", no_limit,
        [&]() -> Result<sys::Observation> {
          const std::string waiting = hosts_that_need_the_service(TRY(hosts_of_cluster()), service_.identity().host_id);
          if (waiting.empty()) return sys::Observation::done();
          if (waiting != reported) report(waiting);
          reported = waiting;
          return sys::Observation::not_yet("{}", waiting);
        },
        nullptr, masters_pace);
  }

  void send_logs_if_possible() {
    const StepWorld world{environment_, tree_, service_, nullptr};
    const Result<> sent = send_logs(world, request_.cluster_id, request_.role == "bootstrap");
    if (!sent.ok()) environment_.context.log.warn("cannot send logs: {}; continuing without them", sent.error().message());
  }

  Result<> reboot() { return run_program({"systemctl", "reboot"}); }

  const net::Environment& environment_;
  const SystemTree& tree_;
  const ServiceClient& service_;
  const std::string folder_;
  const InstallRequest request_;
  const std::optional<LocalDisk> local_disk_;
  BootstrapHost bootstrap_;
};

// The installation that was cut off, or has ended; nothing if there is none.
Result<std::optional<InstallRequest>> recorded_request(sys::Files& files, const std::string& folder) {
  const std::optional<std::string> text = TRY(files.read_if_exists(request_file(folder)));
  if (!text) return std::optional<InstallRequest>();
  const Json request = TRY(parse_json(*text, request_file(folder)));
  return std::optional(InstallRequest{.cluster_id = text_of(request, {"cluster_id"}),
                                      .role = text_of(request, {"role"}),
                                      .disk = text_of(request, {"disk"}),
                                      .masters_needed = integer_of(request, {"masters_needed"}),
                                      .waits_for_hosts = is_true(request, {"waits_for_hosts"}),
                                      .is_single_node = is_true(request, {"is_single_node"})});
}

}  // namespace

Installer::Installer(const net::Environment& environment, const SystemTree& tree, const ServiceClient& service,
                     std::string folder)
    : environment_(environment), tree_(tree), service_(service), folder_(std::move(folder)) {
  const Result<std::optional<InstallRequest>> recorded = recorded_request(environment_.files, folder_);
  if (!recorded.ok()) {
    environment_.context.log.warn("cannot continue an installation: {}; waiting for the service", recorded.error().message());
  } else if (recorded.value()) {
    environment_.context.log.info("continuing the installation on {}", recorded.value()->disk);
    start(*recorded.value());
  }
}

Installer::~Installer() = default;

void Installer::start(const InstallRequest& request) {
  thread_ = std::jthread([this, request](const std::stop_token& stop) {
    const sys::Context context = environment_.context.with_stop(stop);
    const net::Environment own = environment_.with(context);
    Installation(own, tree_, service_, folder_, request).run();
  });
}

Result<> Installer::begin(const InstallRequest& request) {
  const std::lock_guard one_at_a_time(operation_);
  const std::string text = text_of_request(request);
  const std::optional<std::string> recorded = TRY(environment_.files.read_if_exists(request_file(folder_)));
  if (recorded && *recorded == text) return Ok{};
  if (recorded) return error(Code::conflict, "another installation of this host has begun: {} (stop it first)", *recorded);
  TRY(environment_.files.make_directories(folder_, 0700));
  TRY(environment_.files.write(request_file(folder_), text, 0600));
  start(request);
  return Ok{};
}

Result<> Installer::stop() {
  const std::lock_guard one_at_a_time(operation_);
  thread_ = {};  // asks it to stop, and waits
  (void)environment_.runner.run(environment_.context, {.argv = {"umount", "--quiet", "--recursive", folder_ + "/boot"}});
  TRY(BootstrapHost(environment_, folder_).stop());
  return environment_.files.remove(folder_);
}

Result<StepReply> begin_installation(const StepWorld& world, const Json& arguments) {
  TRY(world.installer->begin(TRY(parse_install_request(arguments, read_disks(world.tree)))));
  return StepReply{};
}

Result<StepReply> stop_installation(const StepWorld& world, const Json&) {
  TRY(world.installer->stop());
  return StepReply{};
}

}  // namespace slipway::agent
