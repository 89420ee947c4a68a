// The states of a machine and their transitions. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace slipway::provider::local {

enum class State {
  created,    // never switched on
  preparing,  // switched on; the disk is created
  igniting,   // Ignition runs, before the first boot
  booting,    // init runs
  running,    // init has reported that the start is complete
  rebooting,  // shutting down to restart
  stopping,   // shutting down to power off
  stopped,
  ignition_failed,  // Ignition failed: the config must be changed
  failed,           // any other failure; MachineStatus has the reason
};

enum class MachineEvent {
  switched_on,
  asked_to_reboot,
  asked_to_stop,
  ignition_started,
  ignition_refused,
  booted,       // init was started
  ready,        // init reported that the start is complete
  restarted,    // init ended with a request to restart
  powered_off,  // init ended, or a stop came before it was started
  broke,        // the machine could not be prepared or started, or init died
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

// The state after an event; empty if the event is impossible or not allowed in this state.
std::optional<State> after(State state, MachineEvent event);

// Whether the machine is switched on.
bool is_on(State state);

// Whether the state does not change without a request.
bool is_settled(State state);

}  // namespace slipway::provider::local
