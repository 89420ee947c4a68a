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
       "the kernel arguments or the extensions of rendered-worker-2 did not work, and the machine has booted the deployment "
       "before it: it did not "
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

TEST(Trial, WithoutACounterARestartWithTheDeploymentBeforeEndsIt) {
  TrialRecord staged = record, given_up = record;
  staged.boot_id = given_up.boot_id = "boot-1";
  given_up.reason = "the kubelet failed";
  struct Case {
    const char* what;
    std::optional<TrialRecord> record;
    const char* booted;
    bool is_installed;
    const char* boot_id;
    Trial::State state;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"no record", {}, "a.0", false, "boot-1", Trial::State::none, ""},
      {"not rebooted yet", staged, "a.0", true, "boot-1", Trial::State::none, ""},
      {"lost by a power failure before it was written", staged, "a.0", false, "boot-2", Trial::State::none, ""},
      {"booted", staged, "b.0", true, "boot-2", Trial::State::on_trial, ""},
      {"booted a second time", staged, "b.0", true, "boot-3", Trial::State::on_trial, ""},
      {"a person has booted the one before", staged, "a.0", true, "boot-3", Trial::State::failed,
       ": it does not run after a restart"},
      {"given up", given_up, "a.0", true, "boot-3", Trial::State::failed, ": the kubelet failed"},
      {"given up, not rebooted yet", given_up, "b.0", true, "boot-2", Trial::State::on_trial, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Trial trial = judge_without_counter(c.record, c.booted, c.is_installed, c.boot_id);
    EXPECT_EQ(trial.state, c.state);
    EXPECT_TRUE(trial.reason.ends_with(c.reason)) << trial.reason;
    EXPECT_EQ(trial.reason.empty(), std::string_view(c.reason).empty());
  }
}

TEST(Trial, IsKeptInAFile) {
  testing_support::MemoryFiles files;
  EXPECT_EQ(read_trial_record(files).value(), std::nullopt);
  ASSERT_TRUE(write_trial_record(files, record).ok());
  EXPECT_EQ(read_trial_record(files).value(), record);
  TrialRecord with_boot = record;
  with_boot.boot_id = "boot-1";
  ASSERT_TRUE(write_trial_record(files, with_boot).ok());
  EXPECT_EQ(read_trial_record(files).value(), with_boot);
  ASSERT_TRUE(remove_trial_record(files).ok());
  EXPECT_EQ(read_trial_record(files).value(), std::nullopt);
  ASSERT_TRUE(files.write("/var/lib/slipway/os-update.json", "{}", 0600).ok());
  EXPECT_EQ(read_trial_record(files).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::node
