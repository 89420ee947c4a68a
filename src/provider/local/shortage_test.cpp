#include "provider/local/shortage.h"

#include "provider/local/line_socket.h"

#include "support/test_context.h"
#include "sys/temp_dir.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace slipway::provider::local {
namespace {

using Lines = std::vector<std::string>;

void limit_descriptors(rlim_t most) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = most;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Opens all free descriptors below `end`.
std::vector<sys::Fd> take_descriptors(int end) {
  std::vector<sys::Fd> taken;
  for (;;) {
    sys::Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!fd.is_open() || fd.get() >= end) return taken;
    taken.push_back(std::move(fd));
  }
}

void wait_until_emitted(testing_support::RealTimeContext& context, const std::string& line) {
  for (Lines lines = context.event_lines(); std::ranges::find(lines, line) == lines.end(); lines = context.event_lines()) {
    sys::pause(context.context(), Milliseconds(5));
  }
}

// Runs in its own process, because the limit applies to a process. Exits with 0 if a connection that came during a shortage was
// served later.
void serve_through_a_shortage(const std::string& folder, int most, int taken_up_to) {
  testing_support::RealTimeContext context;
  LineListener listener = LineListener::listen(folder, "s").value();
  LineSocket client = LineSocket::connect(folder, "s").value();
  limit_descriptors(static_cast<rlim_t>(most));
  std::vector<sys::Fd> others = take_descriptors(taken_up_to);
  std::optional<LineSocket> server;
  bool served = false;
  {
    std::jthread serving([&] {
      Shortage shortage(context.context(), "the test");
      Result<LineSocket> accepted = listener.accept(context.context(), shortage);
      if (accepted.ok()) server.emplace(std::move(accepted).value());
    });
    wait_until_emitted(context, "shortage the test failed");
    others.clear();
  }
  served = server && client.send("late").ok() && server->receive({}).value() == "late";
  const bool has_events = context.event_lines() == Lines{"shortage the test failed", "shortage the test finished"};
  const Lines logged = context.logged();
  const bool warned_once = std::ranges::count_if(logged, [](const std::string& line) { return line.starts_with("warn"); }) == 1;
  std::exit(served && has_events && warned_once ? 0 : 1);
}

TEST(Shortage, ConnectionWaitsForADescriptor) {
  const sys::TempDir folder = sys::TempDir::make("shortage-test").value();
  EXPECT_EXIT(serve_through_a_shortage(folder.path(), 32, 32), testing::ExitedWithCode(0), "");
}

TEST(Shortage, ConnectionsLeaveDescriptorsForOtherWork) {
  const sys::TempDir folder = sys::TempDir::make("shortage-test").value();
  // A quarter of 32 descriptors stays free: a connection may not have number 24.
  EXPECT_EXIT(serve_through_a_shortage(folder.path(), 32, 24), testing::ExitedWithCode(0), "");
}

TEST(Shortage, StopEndsTheWaiting) {
  testing_support::RealTimeContext context;
  Shortage shortage(context.context(), "the test");
  std::jthread stopping([&] {
    wait_until_emitted(context, "shortage the test failed");
    context.stop.request_stop();
  });
  EXPECT_EQ(shortage.until_done([] { return Result<>(error(Code::unavailable, "none left")); }).error().code(), Code::cancelled);
}

TEST(Shortage, OtherErrorsAreNotWaitedFor) {
  testing_support::TestContext context;
  Shortage shortage(context.context(), "the test");
  EXPECT_EQ(shortage.until_done([] { return Result<>(error(Code::denied, "never")); }).error().code(), Code::denied);
  EXPECT_TRUE(context.event_lines().empty());
}

TEST(Shortage, ThreadThatCannotBeStartedIsAnError) {
  const auto start_with_a_stack_that_nobody_has = [] {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
    ::pthread_setattr_default_np(&attributes);
    const Result<std::jthread> thread = start_thread([] {});
    std::exit(!thread.ok() && thread.error().code() == Code::unavailable ? 0 : 1);
  };
  EXPECT_EXIT(start_with_a_stack_that_nobody_has(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace slipway::provider::local
