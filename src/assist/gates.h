// Gates: whether a user may go on from a step of the page. A step looks only at the checks that its settings can change, so that
// a missing address does not stop the choice of disks. Clients show these answers and decide nothing themselves. Pure.
#pragma once

#include "assist/validations.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::assist {

// In their order: "cluster-details", "host-discovery", "storage", "networking", "review".
struct GateStep {
  std::string_view id;
  std::span<const std::string_view> host_validations;     // IDs
  std::span<const std::string_view> cluster_validations;  // IDs
  bool is_last = false;                                   // looks at all checks
};
std::span<const GateStep> gate_steps();

// A check that keeps a gate closed.
struct GateProblem {
  std::string host{};  // ID; empty: a check of the cluster
  Validation validation;
};

struct Gate {
  std::string_view step;
  std::vector<GateProblem> problems{};  // checks that did not pass, without warnings
  std::vector<GateProblem> warnings{};  // checks that failed and prevent nothing

  bool is_open() const { return problems.empty(); }
};

struct HostChecks {
  std::string host;  // ID
  std::vector<Validation> validations;
};

// One gate for each step. The last one is open if and only if the checks let the cluster be installed.
std::vector<Gate> gates_of(const std::vector<Validation>& of_cluster, const std::vector<HostChecks>& of_hosts);

// [{"step", "is_open", "problems": [{"host_id"?, "id", "category", "status", "message"}], "warnings": [..]}]
Json to_json(const std::vector<Gate>& gates);

}  // namespace slipway::assist
