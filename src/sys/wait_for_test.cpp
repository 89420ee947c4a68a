#include "sys/wait_for.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace slipway::sys {
namespace {

using testing_support::RealTimeContext;
using testing_support::TestContext;

TEST(WaitFor, SaysWhatWasMissingAtTheEnd) {
  TestContext test;
  int looks = 0;
  Result<> result = wait_for(test.context(), "three etcd voters", Seconds(60),
                             [&]() -> Result<Observation> { return Observation::not_yet("{} of 3 vote", ++looks > 5 ? 2 : 1); });
  EXPECT_EQ(result.error().code(), Code::timeout);
  EXPECT_EQ(result.error().message(), "waiting for three etcd voters: timed out after 1 min 0 s: 2 of 3 vote");
  EXPECT_EQ(test.clock.elapsed(), Seconds(60)) << "the last look is made when the time is over";
  EXPECT_LT(looks, 25) << "it backs off";
}

TEST(WaitFor, TakesErrorsThatMayPassAsNotYet) {
  TestContext test;
  int looks = 0;
  EXPECT_TRUE(wait_for(test.context(), "it", Seconds(60), [&]() -> Result<Observation> {
                if (++looks < 3) return error(Code::unavailable, "connection refused");
                return Observation::done();
              }).ok());
  Result<> denied =
      wait_for(test.context(), "it", Seconds(60), []() -> Result<Observation> { return error(Code::denied, "403"); });
  EXPECT_EQ(denied.error().code(), Code::denied);
  EXPECT_EQ(denied.error().message(), "waiting for it: 403");
}

TEST(WaitFor, LooksAtOnceWhenWoken) {
  RealTimeContext test;
  Wakeup wakeup;
  std::atomic<bool> ready = false;
  std::jthread other([&] {
    ready = true;
    wakeup.notify();
  });
  const SteadyTime start = test.clock.steady();
  EXPECT_TRUE(wait_for(test.context(), "it", Seconds(60),
                       [&]() -> Result<Observation> { return ready ? Observation::done() : Observation::not_yet("no"); }, &wakeup,
                       {Seconds(30), Seconds(30)})
                  .ok());
  EXPECT_LT(test.clock.steady() - start, Seconds(20));
}

TEST(WaitFor, StopsAtOnce) {
  RealTimeContext test;
  std::jthread other([&] { test.stop.request_stop(); });
  Result<> result =
      wait_for(test.context(), "it", Seconds(60), []() -> Result<Observation> { return Observation::not_yet("no"); }, nullptr,
               {Seconds(30), Seconds(30)});
  EXPECT_EQ(result.error().code(), Code::cancelled);
  EXPECT_EQ(result.error().message(), "waiting for it: stopped: no");
}

TEST(Retry, TriesOnlyWhatMayPass) {
  TestContext test;
  int tries = 0;
  auto unavailable = [&]() -> Result<int> {
    ++tries;
    return error(Code::unavailable, "try {}", tries);
  };
  EXPECT_EQ(retry<int>(test.context(), 4, {}, unavailable).error().message(), "try 4");
  EXPECT_EQ(test.clock.elapsed(), Milliseconds(50 + 100 + 200));
  tries = 0;
  auto invalid = [&]() -> Result<int> {
    ++tries;
    return error(Code::invalid, "wrong");
  };
  EXPECT_FALSE(retry<int>(test.context(), 4, {}, invalid).ok());
  EXPECT_EQ(tries, 1);
}

}  // namespace
}  // namespace slipway::sys
