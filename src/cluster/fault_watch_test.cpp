#include "cluster/fault_watch.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

using testing_support::TestContext;

diagnosis::Finding finding(std::string name, bool is_final) {
  return {.name = std::move(name), .stage = "s", .cause = "c", .evidence = {}, .next_step = "n", .is_final = is_final};
}

class FaultWatchTest : public testing::Test {
 protected:
  // Runs until the last examination, or until an earlier end. Each examination returns one row of findings.
  Result<> run(const std::vector<std::vector<diagnosis::Finding>>& rows) {
    std::size_t next = 0;
    return watch.run(test.context(), [&](const sys::Context&, KeepBundle keep) -> Result<Examination> {
      examined_at.push_back(test.clock.elapsed());
      kept.push_back(keep);
      const auto found = rows[next++];
      if (next == rows.size()) test.stop.request_stop();
      return Examination{found, keep == KeepBundle::if_final ? "/d/bundle" : ""};
    });
  }

  TestContext test;
  FaultWatch watch{test.clock};
  std::vector<Milliseconds> examined_at;
  std::vector<KeepBundle> kept;
};

TEST_F(FaultWatchTest, LooksAfterSilenceAndLessAndLessOften) {
  EXPECT_EQ(run({{}, {}, {}, {}, {}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(examined_at,
            (std::vector<Milliseconds>{Seconds(30), Seconds(60), Seconds(120), Seconds(240), Seconds(245), Seconds(250)}));
}

TEST_F(FaultWatchTest, LooksSoonAfterAFailure) {
  watch.observe({.kind = "stage", .name = "x", .phase = sys::Phase::failed});
  EXPECT_EQ(run({{}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(examined_at[0], Seconds(2));
  EXPECT_EQ(examined_at[1], Seconds(60)) << "once for a failure";
}

TEST_F(FaultWatchTest, LooksAtAMachineThatTakesLongToStartWhateverOthersTell) {
  const auto boot = [&](const std::string& machine, sys::Phase phase) {
    watch.observe({.kind = "boot", .name = machine, .phase = phase});
  };
  boot("master-0", sys::Phase::started);
  boot("master-1", sys::Phase::started);
  test.clock.wait(SteadyTime(Seconds(20)), {}, nullptr, 0);
  boot("master-1", sys::Phase::finished);
  EXPECT_EQ(run({{}, {}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(examined_at, (std::vector<Milliseconds>{Seconds(42), Seconds(57), Seconds(87)}));
}

TEST_F(FaultWatchTest, ItsOwnFindingsAreNoSignOfLife) {
  test.clock.wait(SteadyTime(Seconds(10)), {}, nullptr, 0);
  watch.observe({.kind = "finding", .name = "x", .phase = sys::Phase::failed});
  watch.observe({.kind = "cause", .name = "y", .phase = sys::Phase::failed});
  EXPECT_EQ(run({{}}).error().code(), Code::cancelled);
  EXPECT_EQ(examined_at[0], Seconds(30));
}

TEST_F(FaultWatchTest, TellsWhatMayHealOnceAndGoesOn) {
  diagnosis::Finding again = finding("dns-wrong", false);
  again.cause = "in other words";
  EXPECT_EQ(run({{finding("dns-wrong", false)}, {again}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"finding dns-wrong failed"});
}

TEST_F(FaultWatchTest, EndsWhenASecondLookSaysTheSame) {
  const Result<> ended = run({{finding("disk-full", true)}, {finding("disk-full", true)}, {}});
  EXPECT_EQ(ended.error().message(), "disk-full: c\n  stage: s\n  what to do: n\n  log bundle: /d/bundle");
  EXPECT_EQ(examined_at, (std::vector<Milliseconds>{Seconds(30), Seconds(35)}));
  EXPECT_EQ(kept, (std::vector{KeepBundle::never, KeepBundle::if_final}));
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"finding disk-full failed"});
}

TEST_F(FaultWatchTest, DoesNotEndForWhatWasGoneAtTheSecondLook) {
  EXPECT_EQ(run({{finding("disk-full", true)}, {}, {finding("disk-full", true)}, {}}).error().code(), Code::cancelled);
}

TEST(Explain, PutsWhatWasFoundBehindTheFailureOrInItsPlace) {
  const Error failure(Code::timeout, "waiting for x: timed out");
  EXPECT_EQ(explain(failure, {}).message(), "waiting for x: timed out");
  EXPECT_EQ(explain(failure, {{finding("dns-wrong", false)}, "/d/b"}).message(),
            "waiting for x: timed out\ndns-wrong: c\n  stage: s\n  what to do: n\n  log bundle: /d/b");
  EXPECT_EQ(explain(failure, {{finding("disk-full", true)}, "/d/b"}).message(),
            "disk-full: c\n  stage: s\n  what to do: n\n  log bundle: /d/b");
}

}  // namespace
}  // namespace slipway::cluster
