// slipway-node, the program on machines: the bootstrap engine and what nodes do for themselves, one command each.
#include "base/text.h"
#include "bootstrap/program.h"
#include "bootstrap/service_record.h"
#include "net/curl_http.h"
#include "node/approver.h"
#include "node/first_boot.h"
#include "node/kubelet_certificate.h"
#include "node/program.h"
#include "node/report_progress.h"
#include "sys/events.h"
#include "sys/signals.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace slipway;

template <Result<> (*run_command)(const bootstrap::Machine&, const std::vector<std::string>&)>
Result<> of_bootstrap(const node::Environment& environment, const node::Arguments& arguments) {
  return run_command({environment.context, environment.files, environment.runner, environment.http, environment.print},
                     arguments);
}

struct Command {
  std::string_view name;
  std::string_view usage;
  std::string_view service;  // whose record /var/log/openshift/SERVICE.json it keeps; "" for none
  Result<> (*run)(const node::Environment& environment, const node::Arguments& arguments);  // after the name
};

constexpr std::array commands = {
    Command{"bootstrap", "--release-image=IMAGE [--assets=DIR] [stage NAME]", "bootkube", of_bootstrap<bootstrap::run_bootstrap>},
    Command{"image-for", "NAME [--assets=DIR]", "", of_bootstrap<bootstrap::run_image_for>},
    Command{"approve-csr", "KUBECONFIG --machines=FILE --until=FILE", "approve-csr", node::run_approve},
    Command{"report-progress", "KUBECONFIG", "progress", node::run_report_progress},
    Command{"kubelet-certificate", "[OPTIONS]", "", node::run_kubelet_certificate},
    Command{"firstboot-complete-machineconfig", "[OPTIONS]", "", node::run_first_boot},
};

int usage() {
  fmt::print(stderr, "Usage: slipway-node COMMAND\n");
  for (const Command& command : commands) fmt::print(stderr, "  {} {}\n", command.name, command.usage);
  return 2;
}

// The journal of the machine has stages as lines, whatever command they are of.
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

std::string records_folder() {
  const char* folder = std::getenv("SERVICE_RECORDS_DIR");
  return folder && *folder ? folder : "/var/log/openshift";
}

int run(const Command& command, const node::Arguments& arguments, const sys::StopOnSignal& signals) {
  sys::RealClock clock;
  sys::RealFiles files;
  sys::RealRunner runner;
  sys::RealRandom random;
  net::CurlHttp http;
  Log log(Level::info, stderr_sink());
  sys::Events events(clock, std::string(command.name));
  std::optional<bootstrap::ServiceRecord> record;
  events.add_sink(log_sink(log));
  if (!command.service.empty()) {
    const std::string folder = records_folder();
    const auto on_failure = [&log](const Error& why) {
      log.warn("cannot keep records: {}; continuing without them", why.message());
    };
    record.emplace(files, clock, fmt::format("{}/{}.json", folder, command.service), on_failure);
    events.add_sink(record->sink());
    events.add_sink(sys::journal_sink(files, folder + "/events.jsonl", on_failure));
    record->start();
  }
  const sys::Context context{clock, log, events, signals.token()};
  const auto print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  const Result<> result = command.run({context, files, runner, random, http, print}, arguments);
  if (record) record->end(result);
  if (result.ok()) return 0;
  log.error("{}: {}", command.name, result.error().message());
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
