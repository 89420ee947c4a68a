#include "sys/stages.h"

#include "base/text.h"

#include "support/memory_files.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <map>
#include <random>

namespace slipway::sys {
namespace {

using testing_support::MemoryFiles;
using testing_support::RealTimeContext;

std::function<Result<>(const Context&)> nothing() {
  return [](const Context&) -> Result<> { return Ok{}; };
}

TEST(CheckStages, FindsEveryProblem) {
  struct Case {
    std::vector<Stage> stages;
    const char* text;
  };
  const Case cases[] = {
      {{{.name = "a", .needs = {}, .run = nothing()}, {.name = "b", .needs = {"a"}, .run = nothing()}}, ""},
      {{{.name = "A/b", .needs = {}, .run = nothing()},
        {.name = "c", .needs = {"x"}, .run = nothing()},
        {.name = "c", .needs = {}, .run = nothing()}},
       "error: A/b: names of stages must have lower-case letters, digits and dashes only\n"
       "error: c: duplicate name\n"
       "error: c: needs 'x', which is not a stage\n"},
      {{{.name = "a", .needs = {"c"}, .run = nothing()},
        {.name = "b", .needs = {"a"}, .run = nothing()},
        {.name = "c", .needs = {"b"}, .run = nothing()},
        {.name = "d", .needs = {}, .run = nothing()}},
       "error: a: circular dependency: a, b, c\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(check_stages(c.stages).to_text(), c.text);
}

TEST(RunStages, FollowsNeedsAndRunsTheRestAtOnce) {
  RealTimeContext test;
  MemoryFiles files;
  Wakeup both_started;
  std::atomic<int> started = 0;
  std::atomic<bool> first_done = false;
  // b and c wait for each other: they end only if they run in parallel.
  auto meet = [&](const Context& context) -> Result<> {
    EXPECT_TRUE(first_done);
    ++started;
    both_started.notify();
    return wait_for(
        context, "the other", Seconds(30),
        [&]() -> Result<Observation> { return started == 2 ? Observation::done() : Observation::not_yet("alone"); }, &both_started);
  };
  Result<> result = run_stages(
      test.context(), files, "/run",
      {{.name = "d",
        .needs = {"b", "c"},
        .run = [&](const Context&) -> Result<> { return started == 2 ? Result<>(Ok{}) : error(Code::internal, "too early"); }},
       {.name = "b", .needs = {"a"}, .run = meet},
       {.name = "c", .needs = {"a"}, .run = meet},
       {.name = "a", .needs = {}, .run = [&](const Context&) -> Result<> { return first_done = true, Ok{}; }},
       {.name = "e", .needs = {"d"}, .run = nothing(), .applies = false}});
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(files.list("/run").value(), (std::vector<std::string>{"a.done", "b.done", "c.done", "d.done"}));
}

TEST(RunStages, PassesOverWhatIsDone) {
  RealTimeContext test;
  MemoryFiles files;
  int runs = 0;
  std::vector<Stage> stages = {{.name = "a", .needs = {}, .run = [&](const Context&) -> Result<> { return ++runs, Ok{}; }}};
  ASSERT_TRUE(run_stages(test.context(), files, "/run", stages).ok());
  ASSERT_TRUE(run_stages(test.context(), files, "/run", stages).ok());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"stage a started", "stage a finished", "stage a skipped"}));
  EXPECT_EQ(test.events()[2].fields.at("reason"), "done before");
}

TEST(RunStages, AFailureStopsTheOthersAndIsNamed) {
  RealTimeContext test;
  MemoryFiles files;
  Result<> result = run_stages(
      test.context(), files, "/run",
      {{.name = "waits",
        .needs = {},
        .run = [](const Context& c) -> Result<> {
          return pause(c, Seconds(60)) ? Result<>(Ok{}) : error(Code::cancelled, "stopped");
        }},
       {.name = "fails", .needs = {}, .run = [](const Context&) -> Result<> { return error(Code::denied, "not allowed"); }},
       {.name = "never", .needs = {"fails"}, .run = nothing()}});
  EXPECT_EQ(result.error().message(), "stage fails: not allowed");
  EXPECT_EQ(result.error().code(), Code::denied);
  EXPECT_FALSE(files.info("/run/waits.done").value().has_value());
}

// Kills a program of ten stages at random moments until one run completes. Every stage is then done, in an order that respects
// the needs, and no stage ran again after it was marked as done.
TEST(RunStages, ResumesAfterKills) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  TempDir temp = TempDir::make("test").value();
  const std::string log = temp.path() + "/log";
  auto run_all = [&](useconds_t work) {
    RealTimeContext test;
    RealFiles files;
    std::vector<Stage> stages;
    for (int i = 0; i < 10; ++i) {
      const std::string name = fmt::format("s{}", i);
      stages.push_back({.name = name,
                        .needs = i < 3 ? std::vector<std::string>{} : std::vector{fmt::format("s{}", i - 3)},
                        .run = [&files, &log, name, work](const Context&) -> Result<> {
                          ::usleep(work);
                          return files.append(log, name + "\n", 0644);
                        }});
    }
    return run_stages(test.context(), files, temp.path() + "/done", stages);
  };
  int kills = 0;
  for (;; ++kills) {
    ASSERT_LT(kills, 200);
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(run_all(2000).ok() ? 0 : 1);
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 12'000)(random));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
  }
  RealFiles files;
  ASSERT_TRUE(run_all(0).ok());
  std::map<std::string, int> times;
  const std::string text = files.read(log).value();
  for (std::string_view line : split(trim(text), '\n')) ++times[std::string(line)];
  EXPECT_EQ(times.size(), 10u);
  int total = 0;
  for (const auto& [name, count] : times) total += count;
  EXPECT_LE(total, 10 + kills * 3) << "a kill repeats at most the three stages that were running";
}

}  // namespace
}  // namespace slipway::sys
