// slipway-node, the program on machines: the bootstrap engine and the services of nodes, one command each.
#include "base/text.h"
#include "bootstrap/program.h"
#include "bootstrap/service_record.h"
#include "components/machine_approver/approver.h"
#include "main/world.h"
#include "node/certificate_repair.h"
#include "node/daemon.h"
#include "node/first_boot.h"
#include "node/kubelet_certificate.h"
#include "node/os_build/build.h"
#include "node/os_build/job.h"
#include "node/os_update/command.h"
#include "node/program.h"
#include "node/report_progress.h"
#include "sys/environment_variable.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace slipway;

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view service;  // writes the record /var/log/openshift/SERVICE.json; "": none
  Result<> (*run)(const node::Environment& environment, const node::Arguments& arguments);  // after the name
};

constexpr std::array commands = {
    Command{"bootstrap", "--release-image=IMAGE [--assets=DIR] [stage NAME]", "bootkube", bootstrap::run_bootstrap},
    Command{"image-for", "NAME [--assets=DIR]", "", bootstrap::run_image_for},
    Command{"approve-csr", "KUBECONFIG --machines=FILE --until=FILE", "approve-csr",
            components::machine_approver::run_approve_until_bootstrapped},
    Command{"report-progress", "KUBECONFIG", "progress", node::run_report_progress},
    Command{"repair-certificates", "[OPTIONS]", "", node::run_repair_certificates},
    Command{"kubelet-certificate", "[OPTIONS]", "", node::run_kubelet_certificate},
    // As machine-config-daemon, in a container on the machine.
    Command{"start", "--node-name=NAME [--root-mount=/rootfs]", "", node::run_daemon},
    Command{"firstboot-complete-machineconfig", "[OPTIONS]", "", node::run_first_boot},
    Command{"os", "status|trial|fetch IMAGE|stage CONFIG|accept|forget|give-up", "", node::run_os_command},
    Command{"os-image-build", "--folder=DIR --output=DIR [OPTIONS]", "", node::run_os_image_build},
    // In the privileged pod of a build.
    Command{"os-image-build-job", "--name=BUILD --namespace=NAMESPACE --push-secret=NAME [OPTIONS]", "",
            node::run_os_image_build_job},
};

int usage() {
  fmt::print(stderr, "Usage: slipway-node COMMAND\n");
  for (const Command& command : commands) fmt::print(stderr, "  {} {}\n", command.name, command.usage);
  return 2;
}

// Logs the stages of every command to the journal of the machine.
sys::Events::Sink log_sink(Log& log) {
  return [&log](const sys::Event& event) {
    const std::string what = fmt::format("{} {}", event.kind, event.name);
    const std::string took = event.duration ? " after " + human_duration(*event.duration) : "";
    switch (event.phase) {
      case sys::Phase::started: return log.info("{} started", what);
      case sys::Phase::finished: return log.info("{} finished{}", what, took);
      case sys::Phase::failed: return log.error("{} failed{}: {}", what, took, event.error ? event.error->message() : "");
      case sys::Phase::skipped: return log.debug("{} skipped", what);
      case sys::Phase::progress: return;
    }
  };
}

int run(const Command& command, const node::Arguments& arguments, const sys::StopOnSignal& signals) {
  World world(std::string(command.name), Level::info, signals.token());
  std::optional<bootstrap::ServiceRecord> record;
  world.events.add_sink(log_sink(world.log));
  if (!command.service.empty()) {
    const std::string folder = sys::environment_variable("SERVICE_RECORDS_DIR", "/var/log/openshift");
    const auto on_failure = [&world](const Error& why) {
      world.log.warn("cannot keep records: {}; continuing without them", why.message());
    };
    record.emplace(world.files, world.clock, fmt::format("{}/{}.json", folder, command.service), on_failure);
    world.events.add_sink(record->sink());
    world.events.add_sink(sys::journal_sink(world.files, folder + "/events.jsonl", on_failure));
    record->start();
  }
  const Result<> result = command.run(world.environment(), arguments);
  if (record) record->end(result);
  if (result.ok()) return 0;
  world.log.error("{}: {}", command.name, result.error().message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  if (argc < 2) return usage();
  for (const Command& command : commands) {
    if (command.name == argv[1]) return run(command, {argv + 2, argv + argc}, signals);
  }
  return usage();
}
