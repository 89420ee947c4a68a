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

// Whether a second start finds a snapshot that the first was sent. What raft knows of it is a file
// 0000000000000002-00000000000004ea.snap, its data one 00000000000004ea.snap.db. The first comes before the log says that it
// counts, and the data get another name after that (etcd server 3.6: storage.SaveSnap, OpenSnapshotBackend).
bool has_snapshot(sys::Files& files, const std::string& folder) {
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names.ok()) return false;
  return std::ranges::any_of(names.value(), [&](const std::string& file) {
    const std::string data = file.substr(file.find('-') + 1) + ".db";
    return file.ends_with(".snap") && std::ranges::find(names.value(), data) == names->end();
  });
}

// returns: whether it was ended because a snapshot came
Result<bool> run_until_snapshot(const Environment& environment, const std::string& folder, const std::vector<std::string>& argv) {
  std::atomic<bool> came = false;
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
    // Nothing of etcd tells it.
    const Result<> seen = sys::wait_for(
        own, "a snapshot", no_limit,
        [&]() -> Result<sys::Observation> {
          if (has_snapshot(environment.files, folder)) return sys::Observation::done();
          return sys::Observation::not_yet("no snapshot received");
        },
        nullptr, pace);
    if (seen.ok()) came = true;
    tasks.request_stop();
    return seen;
  });
  const Result<> ended = tasks.wait();
  if (came && !environment.context.stop.stop_requested()) return true;
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
