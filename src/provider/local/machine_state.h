// What a machine can be, and what makes it something else. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace slipway::provider::local {

enum class State {
  created,    // known, never switched on
  preparing,  // its disk is made
  igniting,   // Ignition runs, before the first boot
  booting,    // its init runs
  running,    // its init says that the start is complete
  rebooting,  // asked to restart, goes down
  stopping,   // asked to power off, goes down
  stopped,
  ignition_failed,  // Ignition gave up for good: the config has to change
  failed,           // anything else went wrong; the reason stands beside it
};

enum class MachineEvent {
  switched_on,
  asked_to_reboot,
  asked_to_stop,
  ignition_started,
  ignition_refused,
  booted,       // init was started
  ready,        // init says so
  restarted,    // init ended and wants to start again
  powered_off,  // init ended, or a stop came before it was started
  broke,        // could not be prepared or started, or died
};

inline constexpr std::array all_states = {State::created,         State::preparing, State::igniting, State::booting,
                                          State::running,         State::rebooting, State::stopping, State::stopped,
                                          State::ignition_failed, State::failed};
inline constexpr std::array all_machine_events = {MachineEvent::switched_on,
                                                  MachineEvent::asked_to_reboot,
                                                  MachineEvent::asked_to_stop,
                                                  MachineEvent::ignition_started,
                                                  MachineEvent::ignition_refused,
                                                  MachineEvent::booted,
                                                  MachineEvent::ready,
                                                  MachineEvent::restarted,
                                                  MachineEvent::powered_off,
                                                  MachineEvent::broke};

// As in lists and JSON: "ignition-failed".
std::string_view to_string(State state);

// The state after something happened; nothing when it cannot happen, or must not be asked for, in this state.
std::optional<State> after(State state, MachineEvent event);

// Whether the machine uses the processor: from switched on to switched off.
bool is_on(State state);

// Whether it stays what it is until somebody asks for something.
bool is_settled(State state);

}  // namespace slipway::provider::local
