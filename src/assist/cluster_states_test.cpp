#include "assist/cluster_states.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::assist {
namespace {

using enum ClusterStatus;
using Trigger = ClusterTrigger;

struct Case {
  const char* rule;  // name of the row that decides
  ClusterStatus from;
  Trigger trigger;
  ClusterFacts facts;
  ClusterStatus to;
};

const Case cases[] = {
    {"input missing", ready, Trigger::refresh, {}, pending_for_input},
    {"not sufficient", pending_for_input, Trigger::refresh, {.has_input = true}, insufficient},
    {"sufficient", insufficient, Trigger::refresh, {.has_input = true, .is_sufficient = true}, ready},
    {"host left", preparing_for_installation, Trigger::refresh, {.host_left = true}, insufficient},
    {"preparation failed", preparing_for_installation, Trigger::refresh, {.assets_failed = true}, ready},
    {"preparation failed",
     preparing_for_installation,
     Trigger::refresh,
     {.host_failed = true, .preparation_overdue = true},
     ready},
    {"prepared", preparing_for_installation, Trigger::refresh, {.hosts_are_prepared = true, .assets_are_made = true}, installing},
    {"preparation overdue", preparing_for_installation, Trigger::refresh, {.preparation_overdue = true}, ready},
    {"too few hosts", installing, Trigger::refresh, {.enough_can_succeed = false}, error},
    {"failure reported", finalizing, Trigger::refresh, {.controller_failed = true}, error},
    {"installation overdue", installing, Trigger::refresh, {.installation_overdue = true, .stops_at_limits = true}, error},
    {"finalizing overdue", finalizing, Trigger::refresh, {.finalizing_overdue = true, .stops_at_limits = true}, error},
    {"user must act", finalizing, Trigger::refresh, {.host_waits_for_user = true}, installing_pending_user_action},
    {"user acted, enough installed",
     installing_pending_user_action,
     Trigger::refresh,
     {.enough_are_installed = true},
     finalizing},
    {"user acted", installing_pending_user_action, Trigger::refresh, {}, installing},
    {"enough installed", installing, Trigger::refresh, {.enough_are_installed = true}, finalizing},
    {"installed", finalizing, Trigger::refresh, {.all_hosts_ended = true, .operators_are_available = true}, installed},
    {"installation requested", ready, Trigger::install, {}, preparing_for_installation},
    {"cancelled while preparing", preparing_for_installation, Trigger::cancel, {}, ready},
    {"cancelled", error, Trigger::cancel, {}, cancelled},
    {"reset", cancelled, Trigger::reset, {}, insufficient},
    {"takes hosts", installed, Trigger::add_hosts, {}, adding_hosts},
};

TEST(ClusterStates, EveryRowDecides) {
  std::set<std::string_view> seen, all;
  for (const Case& each : cases) {
    const ClusterChange change = change_of(each.from, each.trigger, each.facts);
    EXPECT_EQ(change.rule, each.rule) << to_string(each.from) << " " << to_string(each.trigger);
    EXPECT_EQ(to_string(change.status), to_string(each.to)) << each.rule;
    seen.insert(change.rule);
  }
  for (const ClusterRule& rule : cluster_rules()) all.insert(rule.name);
  EXPECT_EQ(seen, all) << "a row has no case";
}

TEST(ClusterStates, LimitsAloneFailNothing) {
  for (const ClusterStatus status : {installing, finalizing}) {
    EXPECT_EQ(change_of(status, Trigger::refresh, {.installation_overdue = true, .finalizing_overdue = true}).status, status);
  }
}

TEST(ClusterStates, RefuseWhatDoesNotFit) {
  for (const Trigger trigger : {Trigger::install, Trigger::cancel, Trigger::reset, Trigger::add_hosts}) {
    const ClusterChange change = change_of(insufficient, trigger, {});
    EXPECT_EQ(change.status, insufficient);
    EXPECT_FALSE(change.refusal.empty()) << to_string(trigger);
  }
  EXPECT_EQ(change_of(installed, Trigger::refresh, {}).refusal, "");
}

TEST(ClusterStates, NamesAreFoundAgain) {
  for (int i = 0; i <= static_cast<int>(adding_hosts); ++i) {
    EXPECT_EQ(find_cluster_status(to_string(static_cast<ClusterStatus>(i))), static_cast<ClusterStatus>(i));
  }
}

}  // namespace
}  // namespace slipway::assist
