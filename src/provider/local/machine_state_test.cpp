#include "provider/local/machine_state.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::provider::local {
namespace {

State walk(State state, std::initializer_list<MachineEvent> happenings) {
  for (MachineEvent event : happenings) {
    const std::optional<State> next = after(state, event);
    EXPECT_TRUE(next) << to_string(state) << " has no way for " << static_cast<int>(event);
    if (!next) return state;
    state = *next;
  }
  return state;
}

using enum MachineEvent;

TEST(MachineState, FollowsTheLifeOfAMachine) {
  EXPECT_EQ(walk(State::created, {switched_on, ignition_started, booted, ready}), State::running);
  EXPECT_EQ(walk(State::created, {switched_on, booted, ready}), State::running);
  EXPECT_EQ(walk(State::running, {asked_to_reboot, restarted, booted, ready}), State::running);
  EXPECT_EQ(walk(State::running, {restarted, booted, ready}), State::running);
  EXPECT_EQ(walk(State::running, {asked_to_stop, powered_off}), State::stopped);
  EXPECT_EQ(walk(State::created, {switched_on, ignition_started, ignition_refused}), State::ignition_failed);
  EXPECT_EQ(walk(State::ignition_failed, {switched_on}), State::preparing);
}

TEST(MachineState, AStopWinsOverEverythingThatComesLater) {
  for (MachineEvent event : {ignition_refused, restarted, powered_off, broke}) {
    EXPECT_EQ(walk(State::stopping, {event}), State::stopped);
  }
  for (MachineEvent event : {ready, booted, ignition_started}) EXPECT_EQ(walk(State::stopping, {event}), State::stopping);
}

TEST(MachineState, OffMachinesOnlyStart) {
  for (State state : all_states) {
    for (MachineEvent event : all_machine_events) {
      if (is_on(state)) continue;
      EXPECT_EQ(after(state, event).has_value(), event == switched_on) << to_string(state);
    }
  }
}

TEST(MachineState, EveryStateButTheFirstIsReachedAndCanBeLeft) {
  std::set<State> reached = {State::created};
  for (std::size_t size = 0; size != reached.size();) {
    size = reached.size();
    for (State from : std::set<State>(reached)) {
      for (MachineEvent event : all_machine_events) {
        if (const std::optional<State> to = after(from, event)) reached.insert(*to);
      }
    }
  }
  EXPECT_EQ(reached.size(), all_states.size());
}

TEST(MachineState, EveryMachineThatIsOnCanBeStoppedAndCanBreak) {
  for (State state : all_states) {
    if (!is_on(state)) continue;
    if (state != State::stopping) {
      EXPECT_EQ(after(state, asked_to_stop), State::stopping) << to_string(state);
    }
    ASSERT_TRUE(after(state, broke)) << to_string(state);
    EXPECT_FALSE(is_on(*after(state, broke)));
  }
}

}  // namespace
}  // namespace slipway::provider::local
