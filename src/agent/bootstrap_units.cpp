#include "agent/bootstrap_units.h"

#include "assist/controller.h"
#include "base/number.h"
#include "base/text.h"
#include "kube/conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

// The kubelet and the others start again within seconds. A start of bootkube takes from seconds to the time limits of its stages.
constexpr std::array units = {
    BootstrapUnit{.name = "release-image.service", .is_started = false},
    BootstrapUnit{.name = "crio-configure.service", .is_started = false},
    BootstrapUnit{.name = "kubelet.service", .most_restarts = 60},
    BootstrapUnit{.name = "bootkube.service", .most_restarts = 12},
    BootstrapUnit{.name = "approve-csr.service", .is_of_single_node = false, .most_restarts = 60},
    BootstrapUnit{.name = "progress.service", .is_of_single_node = false, .most_restarts = 60},
};

}  // namespace

std::span<const BootstrapUnit> bootstrap_units() { return units; }

std::vector<UnitState> parse_unit_states(std::string_view text) {
  std::vector<UnitState> states;
  UnitState state;
  const auto end_unit = [&] {
    if (!state.name.empty()) states.push_back(std::move(state));
    state = {};
  };
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) end_unit();
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals), value = trim(line.substr(equals + 1));
    if (key == "Id") state.name = value;
    if (key == "LoadState") state.is_loaded = value == "loaded";
    if (key == "ActiveState") state.active = value;
    if (key == "Result") state.result = value;
    if (key == "NRestarts") state.restarts = parse_number<int>(value).value_or(0);
  }
  end_unit();
  return states;
}

std::optional<FailedUnit> find_failed_unit(const std::vector<UnitState>& states) {
  for (const BootstrapUnit& unit : units) {
    const auto state = std::ranges::find(states, unit.name, &UnitState::name);
    if (state == states.end()) continue;
    if (state->active == "failed") return FailedUnit{state->name, state->result};
    if (unit.most_restarts > 0 && state->restarts >= unit.most_restarts) {
      return FailedUnit{state->name, fmt::format("{}, after {} restarts", state->result, state->restarts)};
    }
  }
  return std::nullopt;
}

bool has_ended(const std::vector<UnitState>& states, std::string_view name) {
  const auto state = std::ranges::find(states, name, &UnitState::name);
  return state != states.end() && state->active == "inactive" && state->result == "success";
}

int count_ready_masters(const std::vector<Json>& nodes) {
  return static_cast<int>(std::ranges::count_if(nodes, [](const Json& node) {
    return find(node, {"metadata", "labels", "node-role.kubernetes.io/master"}) &&
           kube::condition_status(node, "Ready") == "True";
  }));
}

bool has_controller_report(const std::vector<Json>& events) {
  return std::ranges::any_of(events,
                             [](const Json& event) { return text_of(event, {"reason"}) == assist::controller_ready_reason; });
}

}  // namespace slipway::agent
