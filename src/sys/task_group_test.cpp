#include "sys/task_group.h"

#include "base/queue.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <atomic>
#include <cstdlib>

namespace slipway::sys {
namespace {

using testing_support::RealTimeContext;

Result<> until_stopped(const Context& context) {
  while (pause(context, Seconds(60))) {
  }
  return error(Code::cancelled, "stopped");
}

TEST(TaskGroup, TheFirstFailureStopsTheOthers) {
  RealTimeContext test;
  TaskGroup tasks(test.context());
  tasks.run("waits", until_stopped);
  tasks.run("fails", [](const Context&) -> Result<> { return error(Code::invalid, "wrong"); });
  Result<> result = tasks.wait();
  EXPECT_EQ(result.error().message(), "fails: wrong");
}

TEST(TaskGroup, TheContextsStopStopsAll) {
  RealTimeContext test;
  TaskGroup tasks(test.context());
  tasks.run("one", until_stopped);
  tasks.run("two", until_stopped);
  test.stop.request_stop();
  EXPECT_EQ(tasks.wait().error().code(), Code::cancelled);
}

TEST(TaskGroup, ItsEndStopsAndJoins) {
  RealTimeContext test;
  std::atomic<bool> ended = false;
  {
    TaskGroup tasks(test.context());
    tasks.run("waits", [&](const Context& context) {
      Result<> result = until_stopped(context);
      ended = true;
      return result;
    });
  }
  EXPECT_TRUE(ended);
}

TEST(ForEachAtOnce, DoesEachOnce) {
  RealTimeContext test;
  std::vector<std::atomic<int>> done(1000);
  std::atomic<int> running = 0, most = 0;
  Result<> result = for_each_at_once(test.context(), done.size(), 3, [&](const Context&, std::size_t i) -> Result<> {
    most = std::max(most.load(), ++running);
    ++done[i];
    --running;
    return Ok{};
  });
  EXPECT_TRUE(result.ok());
  for (const auto& count : done) EXPECT_EQ(count, 1);
  EXPECT_LE(most, 3);
}

TEST(TaskGroup, ThreadThatCannotBeStartedIsAFailure) {
  const auto start_with_a_stack_that_nobody_has = [] {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
    ::pthread_setattr_default_np(&attributes);
    RealTimeContext test;
    TaskGroup tasks(test.context());
    tasks.run("watch nodes", [](const Context&) -> Result<> { return Ok{}; });
    const Result<> done = tasks.wait();
    std::exit(!done.ok() && done.error().code() == Code::unavailable && done.error().message().starts_with("watch nodes: ") ? 0
                                                                                                                            : 1);
  };
  EXPECT_EXIT(start_with_a_stack_that_nobody_has(), testing::ExitedWithCode(0), "");
}

TEST(ForEachAtOnce, ReturnsTheFailure) {
  RealTimeContext test;
  Result<> result = for_each_at_once(test.context(), 100, 4, [&](const Context&, std::size_t i) -> Result<> {
    if (i == 7) return error(Code::invalid, "item {}", i);
    return Ok{};
  });
  EXPECT_EQ(result.error().message(), "item 7");
}

TEST(Queue, EndsWithAStop) {
  Queue<int> queue;
  std::stop_source stop;
  queue.push(1);
  EXPECT_EQ(queue.pop(stop.get_token()), 1);
  queue.push(2);
  queue.push(3);
  EXPECT_EQ(queue.pop_all(stop.get_token()), (std::deque<int>{2, 3}));
  std::jthread other([&] { stop.request_stop(); });
  EXPECT_EQ(queue.pop(stop.get_token()), std::nullopt);
  EXPECT_TRUE(queue.pop_all(stop.get_token()).empty());
}

}  // namespace
}  // namespace slipway::sys
