#include "provider/local/machine_state.h"

namespace slipway::provider::local {

namespace {

struct Transition {
  State from;
  MachineEvent event;
  State to;
};

using enum State;
using enum MachineEvent;

constexpr Transition transitions[] = {
    {created, switched_on, preparing},
    {stopped, switched_on, preparing},
    {ignition_failed, switched_on, preparing},
    {failed, switched_on, preparing},

    {preparing, ignition_started, igniting},
    {preparing, booted, booting},
    {preparing, asked_to_stop, stopping},
    {preparing, broke, failed},

    {igniting, ignition_refused, ignition_failed},
    {igniting, booted, booting},
    {igniting, asked_to_stop, stopping},
    {igniting, broke, failed},

    {booting, ready, running},
    {booting, asked_to_reboot, rebooting},
    {booting, asked_to_stop, stopping},
    {booting, restarted, preparing},
    {booting, powered_off, stopped},
    {booting, broke, failed},

    {running, ready, running},  // init re-executed itself (daemon-reexec)
    {running, asked_to_reboot, rebooting},
    {running, asked_to_stop, stopping},
    {running, restarted, preparing},
    {running, powered_off, stopped},
    {running, broke, failed},

    {rebooting, ready, rebooting},  // sent before init got the request
    {rebooting, asked_to_stop, stopping},
    {rebooting, restarted, preparing},
    {rebooting, powered_off, stopped},
    {rebooting, broke, failed},

    {stopping, ready, stopping},
    {stopping, booted, stopping},
    {stopping, ignition_started, stopping},
    {stopping, ignition_refused, stopped},
    {stopping, restarted, stopped},
    {stopping, powered_off, stopped},
    {stopping, broke, stopped},
};

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case created: return "created";
    case preparing: return "preparing";
    case igniting: return "igniting";
    case booting: return "booting";
    case running: return "running";
    case rebooting: return "rebooting";
    case stopping: return "stopping";
    case stopped: return "stopped";
    case ignition_failed: return "ignition-failed";
    case failed: return "failed";
  }
  return "";
}

std::optional<State> after(State state, MachineEvent event) {
  for (const Transition& transition : transitions) {
    if (transition.from == state && transition.event == event) return transition.to;
  }
  return std::nullopt;
}

bool is_on(State state) { return state != created && state != stopped && state != ignition_failed && state != failed; }

bool is_settled(State state) { return !is_on(state) || state == running; }

}  // namespace slipway::provider::local
