#include "cluster/cause_watch.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

using diagnosis::Chain;
using testing_support::TestContext;

class CauseWatchTest : public testing::Test {
 protected:
  // Runs until the last look. Each look finds one row of chains.
  Result<> run(const std::vector<std::vector<Chain>>& rows) {
    std::size_t next = 0;
    return watch.run(test.context(), [&](const sys::Context&) -> Result<std::vector<Chain>> {
      looked_at.push_back(test.clock.elapsed());
      sentences.push_back(watch.sentence());
      if (next == rows.size()) {
        test.stop.request_stop();
        return std::vector<Chain>();
      }
      return rows[next++];
    });
  }

  // A chain of one link of known age, and one of unknown age.
  Chain aged(const std::string& name, const std::string& object) {
    return {{.name = name, .object = object, .sentence = object + " is broken", .since = test.clock.now(), .next_step = "mend"}};
  }
  Chain ageless(const std::string& name, const std::string& object) {
    return {{.name = name, .object = object, .sentence = object + " is broken", .since = {}, .next_step = "mend"}};
  }

  TestContext test;
  CauseWatch watch{test.clock};
  std::vector<Milliseconds> looked_at;
  std::vector<std::string> sentences;
};

TEST_F(CauseWatchTest, LooksAfterAWhileAndThenAgainAndAgain) {
  EXPECT_EQ(run({{}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(looked_at, (std::vector<Milliseconds>{Seconds(15), Seconds(22), Seconds(29)}));
  EXPECT_TRUE(test.event_lines().empty());
}

TEST_F(CauseWatchTest, TellsACauseOnceAndItsEnd) {
  const Chain off = aged("machine-off", "machine/master-1");
  EXPECT_EQ(run({{off}, {off}, {}}).error().code(), Code::cancelled);
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"cause machine-off failed", "cause machine-off finished"}));
  EXPECT_EQ(test.events()[1].fields.at("description"), "no longer: machine/master-1 is broken");
  EXPECT_EQ(sentences, (std::vector<std::string>{"", "machine/master-1 is broken", "machine/master-1 is broken", ""}));
}

TEST_F(CauseWatchTest, OneLookProvesNothingOfUnknownAge) {
  const Chain closed = ageless("port-closed", "reach/master-0");
  EXPECT_EQ(run({{closed}, {}, {closed}}).error().code(), Code::cancelled);
  EXPECT_TRUE(test.event_lines().empty());
}

TEST_F(CauseWatchTest, OneLookProvesNothingOfTheApi) {
  const Chain silent = aged("node-silent", "node/master-0");
  EXPECT_EQ(run({{silent}, {}, {silent}, {silent}}).error().code(), Code::cancelled);
  EXPECT_EQ(sentences, (std::vector<std::string>{"", "", "", "", "node/master-0 is broken"}));
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"cause node-silent failed"});
}

TEST_F(CauseWatchTest, UnknownAgeCountsFromTheFirstLook) {
  const Chain closed = ageless("port-closed", "reach/master-0");      // patience: 5 s
  const Chain stopped = ageless("kubelet-stopped", "machine/worker-0");  // patience: 20 s
  EXPECT_EQ(run({{stopped}, {stopped}, {stopped}, {stopped}, {closed, stopped}, {closed, stopped}}).error().code(),
            Code::cancelled);
  EXPECT_EQ(sentences, (std::vector<std::string>{"", "", "", "", "machine/worker-0 is broken", "machine/worker-0 is broken",
                                                 "reach/master-0 is broken"}));
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"cause kubelet-stopped failed", "cause kubelet-stopped finished",
                                                          "cause port-closed failed"}));
}

TEST_F(CauseWatchTest, StaysWithACauseAmongEquals) {
  const Chain first = aged("machine-off", "machine/master-0"), second = aged("machine-off", "machine/master-1");
  EXPECT_EQ(run({{second}, {first, second}, {first, second}}).error().code(), Code::cancelled);
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"cause machine-off failed"});
}

TEST_F(CauseWatchTest, KeepsTheCauseWhileItCannotLook) {
  int looks = 0;
  const Chain off = aged("machine-off", "machine/master-1");
  const Result<> ended = watch.run(test.context(), [&](const sys::Context&) -> Result<std::vector<Chain>> {
    ++looks;
    if (looks == 3) test.stop.request_stop();
    if (looks == 2) return error(Code::unavailable, "no answer");
    return std::vector<Chain>{off};
  });
  EXPECT_EQ(ended.error().code(), Code::cancelled);
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"cause machine-off failed"});
}

}  // namespace
}  // namespace slipway::cluster
