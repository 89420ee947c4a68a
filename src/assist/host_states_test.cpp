#include "assist/host_states.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace slipway::assist {
namespace {

using enum HostStatus;
using Trigger = HostTrigger;

// A host that can be installed, of a cluster that is ready.
HostFacts healthy() {
  return {
      .cluster = ClusterStatus::ready, .has_inventory = true, .meets_minimum = true, .has_input = true, .is_sufficient = true};
}

struct Case {
  const char* rule;  // name of the row that decides
  HostStatus from;
  Trigger trigger;
  void (*change)(HostFacts& facts);
  HostStatus to;
};

void nothing(HostFacts&) {}
void prepares(HostFacts& facts) { facts.cluster = ClusterStatus::preparing_for_installation; }
void installs(HostFacts& facts) { facts.cluster = ClusterStatus::installing; }
void reboots(HostFacts& facts) { facts.stage = Stage::rebooting; }
void is_lost(HostFacts& facts) { facts.is_connected = false; }
void has_no_inventory(HostFacts& facts) { facts.has_inventory = false; }
void is_too_small(HostFacts& facts) { facts.meets_minimum = false; }

const Case cases[] = {
    {"agent restarted", installing, Trigger::registered, [](HostFacts& facts) { facts.is_same_boot = true; }, installing},
    {"discovered again", known, Trigger::registered, nothing, discovering},
    {"discovered again in the pool", known_unbound, Trigger::registered, nothing, discovering_unbound},
    {"restarted while preparing", preparing_successful, Trigger::registered, prepares, known},
    {"reset", resetting, Trigger::registered, nothing, discovering},
    {"reset, rebooting", resetting, Trigger::registered, reboots, resetting},
    {"wrong boot order", installing_in_progress, Trigger::registered, reboots, installing_pending_user_action},
    {"wrong boot order of a later host", added_to_existing_cluster, Trigger::registered, nothing, installing_pending_user_action},
    {"restarted while installing", installing_in_progress, Trigger::registered,
     [](HostFacts& facts) { facts.stage = Stage::writing_image_to_disk; }, error},
    {"failed before", error, Trigger::registered, nothing, error},
    {"installed before", installed, Trigger::registered, nothing, installed},

    {"medium lost while installing", installing_in_progress, Trigger::refresh,
     [](HostFacts& facts) {
       installs(facts);
       facts.has_medium = false;
     },
     error},
    {"lost", known, Trigger::refresh, is_lost, disconnected},
    {"lost", preparing_successful, Trigger::refresh, is_lost, disconnected},
    {"lost in the pool", known_unbound, Trigger::refresh, is_lost, disconnected_unbound},
    {"installation starts", known, Trigger::refresh, prepares, preparing_for_installation},
    {"disk too slow", preparing_for_installation, Trigger::refresh,
     [](HostFacts& facts) {
       prepares(facts);
       facts.disk_speed = Check::failed;
     },
     insufficient},
    {"checks passed", preparing_for_installation, Trigger::refresh,
     [](HostFacts& facts) {
       prepares(facts);
       facts.disk_speed = facts.images = Check::passed;
     },
     preparing_successful},
    {"images failed", preparing_for_installation, Trigger::refresh,
     [](HostFacts& facts) {
       prepares(facts);
       facts.images = Check::failed;
     },
     preparing_failed},
    {"checks overdue", preparing_for_installation, Trigger::refresh,
     [](HostFacts& facts) {
       prepares(facts);
       facts.checks_overdue = true;
     },
     preparing_failed},
    {"installing", preparing_successful, Trigger::refresh, installs, installing},
    {"installation called off", preparing_failed, Trigger::refresh, nothing, known},
    {"lost while installing", installing, Trigger::refresh,
     [](HostFacts& facts) {
       is_lost(facts);
       facts.stops_at_limits = true;
     },
     error},
    {"cluster failed", installed, Trigger::refresh, [](HostFacts& facts) { facts.cluster = ClusterStatus::error; }, error},
    {"not started", installing, Trigger::refresh, [](HostFacts& facts) { facts.start_overdue = true; }, error},
    {"reboot overdue", installing_in_progress, Trigger::refresh,
     [](HostFacts& facts) {
       reboots(facts);
       facts.stage_overdue = true;
     },
     installing_pending_user_action},
    {"stage overdue", installing_in_progress, Trigger::refresh,
     [](HostFacts& facts) { facts.stage_overdue = facts.stops_at_limits = true; }, error},
    {"action overdue", installing_pending_user_action, Trigger::refresh,
     [](HostFacts& facts) { facts.action_overdue = facts.cluster_can_do_without = true; }, error},
    {"reclaim overdue", reclaiming, Trigger::refresh, [](HostFacts& facts) { facts.action_overdue = true; },
     unbinding_pending_user_action},
    {"no hardware known", disconnected, Trigger::refresh, has_no_inventory, discovering},
    {"no hardware known in the pool", disconnected_unbound, Trigger::refresh, has_no_inventory, discovering_unbound},
    {"too little hardware", discovering, Trigger::refresh, is_too_small, insufficient},
    {"too little hardware in the pool", discovering_unbound, Trigger::refresh, is_too_small, insufficient_unbound},
    {"in the pool", discovering_unbound, Trigger::refresh, nothing, known_unbound},
    {"no input", discovering, Trigger::refresh, [](HostFacts& facts) { facts.has_input = false; }, pending_for_input},
    {"not sufficient", known, Trigger::refresh, [](HostFacts& facts) { facts.is_sufficient = false; }, insufficient},
    {"sufficient", insufficient, Trigger::refresh, nothing, known},

    {"failure reported", installing_in_progress, Trigger::progress, [](HostFacts& facts) { facts.stage = Stage::failed; }, error},
    {"later host done", installing_in_progress, Trigger::progress,
     [](HostFacts& facts) {
       reboots(facts);
       facts.is_day_two = true;
     },
     added_to_existing_cluster},
    {"done", installing_pending_user_action, Trigger::progress, [](HostFacts& facts) { facts.stage = Stage::done; }, installed},
    {"stage reported", installing, Trigger::progress, reboots, installing_in_progress},
    {"late report", installed, Trigger::progress, reboots, installed},
    {"installer not started", installing, Trigger::installation_failed, nothing, error},

    {"later host installed", known, Trigger::install, [](HostFacts& facts) { facts.is_day_two = true; }, installing},
    {"cancelled while preparing", preparing_failed, Trigger::cancel, nothing, known},
    {"cancelled", installed, Trigger::cancel, nothing, cancelled},
    {"nothing to cancel", known, Trigger::cancel, nothing, known},
    {"reset while preparing", preparing_successful, Trigger::reset, nothing, known},
    {"reset", installed, Trigger::reset, nothing, resetting_pending_user_action},
    {"nothing to reset", insufficient, Trigger::reset, nothing, insufficient},
    {"bound", known_unbound, Trigger::bind, nothing, binding},
    {"unbound", known, Trigger::unbind, nothing, unbinding},
    {"unbound after an installation", installed, Trigger::unbind, nothing, unbinding_pending_user_action},
};

TEST(HostStates, EveryRowDecides) {
  std::set<std::pair<std::string_view, Trigger>> seen, all;
  for (const Case& each : cases) {
    HostFacts facts = healthy();
    each.change(facts);
    const HostChange change = change_of(each.from, each.trigger, facts);
    EXPECT_EQ(change.rule, each.rule) << to_string(each.from) << " " << to_string(each.trigger);
    EXPECT_EQ(to_string(change.status), to_string(each.to)) << each.rule;
    seen.emplace(change.rule, each.trigger);
  }
  for (const HostRule& rule : host_rules()) all.emplace(rule.name, rule.trigger);
  EXPECT_EQ(seen, all) << "a row has no case";
}

TEST(HostStates, RefuseWhatDoesNotFit) {
  const HostFacts facts = healthy();
  EXPECT_EQ(change_of(installed, Trigger::registered, facts).refusal, "the host is installed; it must boot its disk");
  for (const auto& [from, trigger] : {std::pair(known, Trigger::progress), std::pair(installing, Trigger::bind),
                                      std::pair(discovering, Trigger::install), std::pair(known, Trigger::install)}) {
    const HostChange change = change_of(from, trigger, facts);
    EXPECT_FALSE(change.refusal.empty()) << to_string(from);
    EXPECT_EQ(change.status, from);
  }
}

TEST(HostStates, NewHosts) {
  EXPECT_EQ(first_registration({}).status, discovering_unbound);
  EXPECT_EQ(first_registration(healthy()).status, discovering);
  EXPECT_EQ(first_registration(healthy()).refusal, "");
  HostFacts late = healthy();
  installs(late);
  EXPECT_NE(first_registration(late).refusal, "");
}

// Whatever happens: a host is only installed after its checks, and an installed one is not discovered again by itself.
TEST(HostStates, RandomWalksKeepTheirPromises) {
  std::mt19937 random(11);
  const auto coin = [&] { return random() % 2 == 0; };
  for (int walk = 0; walk < 300; ++walk) {
    HostStatus status = discovering;
    for (int step = 0; step < 300; ++step) {
      const HostFacts facts = {.cluster = static_cast<ClusterStatus>(random() % 11),
                               .is_connected = random() % 8 != 0,
                               .has_medium = random() % 8 != 0,
                               .has_inventory = random() % 8 != 0,
                               .is_same_boot = coin(),
                               .meets_minimum = random() % 8 != 0,
                               .has_input = random() % 8 != 0,
                               .is_sufficient = random() % 4 != 0,
                               .disk_speed = static_cast<Check>(random() % 3),
                               .images = static_cast<Check>(random() % 3),
                               .stage = coin() ? std::optional(static_cast<Stage>(random() % 12)) : std::nullopt};
      const Trigger trigger = coin() ? Trigger::refresh : static_cast<Trigger>(random() % 9);
      const HostChange change = change_of(status, trigger, facts);
      if (change.status == installing && status != installing) {
        EXPECT_EQ(status, preparing_successful);
      }
      if (change.status == preparing_successful && status != preparing_successful) {
        EXPECT_EQ(status, preparing_for_installation);
      }
      if (status == installed && change.status != installed) {
        EXPECT_TRUE(trigger != Trigger::refresh || facts.cluster == ClusterStatus::error);
        EXPECT_NE(change.status, discovering);
      }
      if (!change.refusal.empty()) {
        EXPECT_EQ(change.status, status);
      }
      status = change.status;
    }
  }
}

TEST(HostStates, NamesAreFoundAgain) {
  for (int i = 0; i <= static_cast<int>(resetting_pending_user_action); ++i) {
    const auto status = static_cast<HostStatus>(i);
    EXPECT_EQ(find_host_status(to_string(status)), status);
  }
  for (int i = 0; i <= static_cast<int>(Stage::failed); ++i) {
    EXPECT_EQ(find_stage(to_string(static_cast<Stage>(i))), static_cast<Stage>(i));
  }
  EXPECT_EQ(find_role("worker"), Role::worker);
  EXPECT_EQ(find_role("Worker"), std::nullopt);
}

}  // namespace
}  // namespace slipway::assist
