#include "node/os_update/trial.h"

#include "node/os_update/host_updater.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const TrialRecord record{.config = "rendered-worker-2", .image = "r.example/os@sha256:1", .deployment = "b.0"};

TEST(Trial, IsJudgedByWhatIsBooted) {
  TrialRecord given_up = record, arguments = record;
  given_up.reason = "the kubelet failed";
  arguments.image = "";
  struct Case {
    const char* what;
    std::optional<TrialRecord> record;
    const char* booted;
    std::optional<int> attempts_left;
    Trial::State state;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"no record", {}, "a.0", {}, Trial::State::none, ""},
      {"not rebooted yet", record, "a.0", 3, Trial::State::none, ""},
      {"nothing is counted yet", record, "a.0", {}, Trial::State::none, ""},
      {"booted", record, "b.0", 2, Trial::State::on_trial, ""},
      {"booted at the last attempt", record, "b.0", 0, Trial::State::on_trial, ""},
      {"another deployment of the commit", record, "b.1", 0, Trial::State::failed,
       "the OS image r.example/os@sha256:1 did not work, and the machine has booted the deployment before it: it did not start "
       "completely in three attempts"},
      {"given up",
       given_up,
       "a.0",
       {},
       Trial::State::failed,
       "the OS image r.example/os@sha256:1 did not work, and the machine has booted the deployment before it: the kubelet "
       "failed"},
      {"given up, not rebooted yet", given_up, "b.0", {}, Trial::State::on_trial, ""},
      {"kernel arguments", arguments, "a.0", 0, Trial::State::failed,
       "the kernel arguments of rendered-worker-2 did not work, and the machine has booted the deployment before it: it did not "
       "start completely in three attempts"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Trial trial = judge(c.record, c.booted, c.attempts_left);
    EXPECT_EQ(trial.state, c.state);
    EXPECT_EQ(trial.reason, c.reason);
    EXPECT_EQ(trial.config, c.record ? record.config : "");
    const Result<Trial> read = parse_trial(to_text(trial));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->state, trial.state);
    EXPECT_EQ(read->reason, trial.reason);
  }
}

TEST(Trial, IsKeptInAFile) {
  testing_support::MemoryFiles files;
  EXPECT_EQ(read_trial_record(files).value(), std::nullopt);
  ASSERT_TRUE(write_trial_record(files, record).ok());
  EXPECT_EQ(read_trial_record(files).value(), record);
  ASSERT_TRUE(remove_trial_record(files).ok());
  EXPECT_EQ(read_trial_record(files).value(), std::nullopt);
  ASSERT_TRUE(files.write("/var/lib/slipway/os-update.json", "{}", 0600).ok());
  EXPECT_EQ(read_trial_record(files).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::node
