#include "components/etcd/first_start.h"

#include "base/flags.h"
#include "base/text.h"
#include "sys/exec.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace slipway::components::etcd {

namespace {

constexpr std::string_view name = "cluster-etcd-operator start-member";
constexpr sys::Pace pace{Milliseconds(50), Milliseconds(200)};
constexpr Milliseconds no_limit = std::chrono::hours(24 * 365);

// Whether a restart would find a received snapshot. Raft's part of the snapshot is a file such as
// 0000000000000002-00000000000004ea.snap, the data are in 00000000000004ea.snap.db. etcd writes raft's part before the log refers
// to it, and renames the data after that (etcd server 3.6: storage.SaveSnap, OpenSnapshotBackend).
bool has_snapshot(sys::Files& files, const std::string& folder) {
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names.ok()) return false;
  return std::ranges::any_of(names.value(), [&](const std::string& file) {
    const std::string data = file.substr(file.find('-') + 1) + ".db";
    return file.ends_with(".snap") && std::ranges::find(names.value(), data) == names->end();
  });
}

// returns: whether the program was stopped because a snapshot was received
Result<bool> run_until_snapshot(const Environment& environment, const std::string& folder, const std::vector<std::string>& argv) {
  std::atomic<bool> is_received = false;
  sys::TaskGroup tasks(environment.context);
  tasks.run("", [&](const sys::Context& own) -> Result<> {
    const sys::Output ended = TRY(environment.runner.run(
        own, {.argv = argv, .grace = Seconds(20), .output_limit = 0, .on_line = [&](sys::Stream, std::string_view line) {
                environment.print(std::string(line) + "\n");
              }}));
    tasks.request_stop();
    if (ended.status == 0) return Ok{};
    return error(Code::unavailable, "{}: exit status {}", argv.front(), ended.status);
  });
  tasks.run("", [&](const sys::Context& own) -> Result<> {
    // Polls the folder: etcd does not report a received snapshot.
    const Result<> seen = sys::wait_for(
        own, "a snapshot", no_limit,
        [&]() -> Result<sys::Observation> {
          if (has_snapshot(environment.files, folder)) return sys::Observation::done();
          return sys::Observation::not_yet("no snapshot received");
        },
        nullptr, pace);
    if (seen.ok()) is_received = true;
    tasks.request_stop();
    return seen;
  });
  const Result<> ended = tasks.wait();
  if (is_received && !environment.context.stop.stop_requested()) return true;
  if (!ended.ok() && ended.error().code() != Code::cancelled) return ended.error();
  return false;
}

}  // namespace

Result<> run_start_member(const Environment& environment, const Arguments& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  const Flags flags = TRY(parse_flags(name, {{.name = "data-dir", .required = true}}, {arguments.begin(), dashes}));
  if (arguments.end() - dashes < 2) return error(Code::invalid, "{}: no program given after --", name);
  const std::vector<std::string> argv(dashes + 1, arguments.end());
  const std::string member = flags.text("data-dir") + "/member";
  if (!TRY(environment.files.info(member))) {
    if (!TRY(run_until_snapshot(environment, member + "/snap", argv))) return Ok{};
    environment.context.log.info("received a snapshot; starting {} again with it", argv.front());
  }
  return sys::become_program(argv);
}

}  // namespace slipway::components::etcd
