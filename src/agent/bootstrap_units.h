// The services of the bootstrap in a live system: which are started, and when one of them has failed. Pure.
#pragma once

#include "base/json.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

struct BootstrapUnit {
  std::string_view name;
  bool is_started = true;         // false: another unit starts it
  bool is_of_single_node = true;  // false: only with other masters
  // systemd starts most of these units again when they fail, so they are never in state `failed`. After this number of automatic
  // starts the unit counts as failed. 0: systemd does not start it again.
  int most_restarts = 0;
};

// In the order in which they work.
std::span<const BootstrapUnit> bootstrap_units();

struct UnitState {
  std::string name;
  std::string active;  // "active", "activating", "inactive", "failed"
  std::string result;  // "success", "exit-code", "signal", ...
  int restarts = 0;
  bool is_loaded = false;  // false: systemd has no such unit

  bool operator==(const UnitState&) const = default;
};

inline constexpr std::string_view unit_properties = "Id,LoadState,ActiveState,Result,NRestarts";

// Reads the output of `systemctl show --property=unit_properties UNIT...`. Units without a name are left out.
std::vector<UnitState> parse_unit_states(std::string_view text);

struct FailedUnit {
  std::string name;
  std::string reason;  // "exit-code", "exit-code, after 12 restarts"

  bool operator==(const FailedUnit&) const = default;
};

// The first unit that has failed.
std::optional<FailedUnit> find_failed_unit(const std::vector<UnitState>& states);

// Whether a unit has ended successfully, after it was started.
bool has_ended(const std::vector<UnitState>& states, std::string_view name);

// How many Nodes are masters and ready.
int count_ready_masters(const std::vector<Json>& nodes);

// Whether one of the Events is the report of the cluster's controller that it has reached the service.
bool has_controller_report(const std::vector<Json>& events);

}  // namespace slipway::agent
