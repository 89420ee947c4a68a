#include "sys/runner.h"

#include "support/test_context.h"
#include "sys/fd.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <thread>

namespace slipway::sys {
namespace {

using testing_support::RealTimeContext;

class RunnerTest : public testing::Test {
 protected:
  Result<Output> run(Command command) { return runner_.run(test_.context(), command); }
  Result<Output> shell(const std::string& script) { return run({.argv = {"sh", "-c", script}}); }

  RealTimeContext test_;
  RealRunner runner_;
};

TEST_F(RunnerTest, KeepsStatusAndBothStreams) {
  Output output = shell("echo out; echo err >&2; exit 3").value();
  EXPECT_EQ(output.status, 3);
  EXPECT_EQ(output.out, "out\n");
  EXPECT_EQ(output.err, "err\n");
  EXPECT_EQ(shell("kill -TERM $$").value().status, 128 + SIGTERM);
}

TEST_F(RunnerTest, GivesInputEnvironmentAndFolder) {
  const std::string input(1 << 20, 'x');
  EXPECT_EQ(run({.argv = {"cat"}, .input = input}).value().out, input);
  EXPECT_EQ(run({.argv = {"true"}, .input = input}).value().status, 0) << "a program need not read its input";
  EXPECT_EQ(run({.argv = {"sh", "-c", "echo $A-$HOME; pwd"}, .environment = {"A=b", "HOME=/x"}, .directory = "/"}).value().out,
            "b-/x\n/\n");
}

TEST_F(RunnerTest, SaysWhyItCannotStart) {
  Result<Output> missing = run({.argv = {"no-such-program"}});
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(missing.error().message(), "starting no-such-program: No such file or directory");
  EXPECT_EQ(run({.argv = {"true"}, .directory = "/none"}).error().message(), "starting true in /none: No such file or directory");
  EXPECT_EQ(run({.argv = {"/etc/passwd"}}).error().code(), Code::denied);
}

TEST_F(RunnerTest, HandsOutLinesAsTheyCome) {
  std::vector<std::string> lines;
  Command command{.argv = {"sh", "-c", "echo a; echo b >&2; printf c"}};
  command.on_line = [&](Stream stream, std::string_view line) {
    lines.push_back(fmt::format("{} {}", stream == Stream::out ? "out" : "err", line));
  };
  ASSERT_TRUE(run(command).ok());
  std::ranges::sort(lines);
  EXPECT_EQ(lines, (std::vector<std::string>{"err b", "out a", "out c"}));
}

TEST_F(RunnerTest, KeepsNoMoreThanItsLimit) {
  Command command{.argv = {"sh", "-c", "head -c 1000000 /dev/zero"}, .output_limit = 1000};
  EXPECT_EQ(run(command).value().out.size(), 1000u);
}

TEST_F(RunnerTest, EndsAtItsLimitByTermThenByKill) {
  Command polite{.argv = {"sleep", "60"}, .limit = Milliseconds(50)};
  const SteadyTime start = test_.clock.steady();
  EXPECT_EQ(run(polite).error().message(), "sleep: killed after its time limit of 50 ms");
  EXPECT_LT(test_.clock.steady() - start, Seconds(4)) << "TERM was enough";
  Command stubborn{
      .argv = {"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}, .limit = Milliseconds(50), .grace = Milliseconds(100)};
  EXPECT_EQ(run(stubborn).error().code(), Code::timeout);
}

TEST_F(RunnerTest, AStopEndsIt) {
  std::jthread other([&] { test_.stop.request_stop(); });
  EXPECT_EQ(run({.argv = {"sleep", "60"}}).error().code(), Code::cancelled);
}

TEST_F(RunnerTest, LeavesNoGrandchildBehind) {
  const SteadyTime start = test_.clock.steady();
  Output output = shell("sleep 60 & echo $!").value();
  EXPECT_LT(test_.clock.steady() - start, Seconds(20)) << "the grandchild holds the pipe open and is not waited for";
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(output.out), 0)));
  pollfd ended = {pidfd.get(), POLLIN, 0};
  EXPECT_TRUE(!pidfd.is_open() || ::poll(&ended, 1, 20'000) == 1) << "it was killed, and ends as soon as the kernel gets to it";
}

TEST_F(RunnerTest, RunCheckedQuotesTheCommand) {
  Result<std::string> result = run_checked(runner_, test_.context(), {.argv = {"sh", "-c", "echo \"it's\" bad >&2; exit 4"}});
  EXPECT_EQ(result.error().message(), "`sh -c 'echo \"it'\\''s\" bad >&2; exit 4'` failed with exit status 4: it's bad");
  EXPECT_EQ(run_checked(runner_, test_.context(), {.argv = {"echo", "x"}}).value(), "x\n");
}

TEST_F(RunnerTest, ManyAtOnce) {
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k)
        good += RealRunner().run(test_.context(), {.argv = {"echo", std::to_string(i)}}).value().out == fmt::format("{}\n", i);
    });
  }
  threads.clear();
  EXPECT_EQ(good, 80);
}

}  // namespace
}  // namespace slipway::sys
