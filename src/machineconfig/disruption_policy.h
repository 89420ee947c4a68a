// Node disruption policy: what a machine does when files, units or keys of its config change, from MachineConfiguration cluster
// (operator.openshift.io/v1). Pure.
//
// https://github.com/openshift/api/blob/master/operator/v1/types_machineconfiguration.go
#pragma once

#include "base/findings.h"
#include "base/json.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Name of the only MachineConfiguration.
inline constexpr std::string_view machine_configuration_name = "cluster";

struct DisruptionAction {
  enum class Type { reboot, drain, reload, restart, daemon_reload };
  Type type = Type::reboot;
  std::string unit{};  // of reload and restart: "containerd.service"

  bool operator==(const DisruptionAction&) const = default;
};

// In this order; empty: nothing (None in the API).
using DisruptionActions = std::vector<DisruptionAction>;

struct DisruptionPolicy {
  std::map<std::string, DisruptionActions, std::less<>> files{};  // by path of a file, or of a folder with its content
  std::map<std::string, DisruptionActions, std::less<>> units{};  // by name
  DisruptionActions core_access{};                                // SSH keys and password of core (sshkey in the API)

  // The actions of the longest matching path, or of the unit; null: no policy, so the machine reboots.
  const DisruptionActions* for_file(std::string_view path) const;
  const DisruptionActions* for_unit(std::string_view name) const;

  bool operator==(const DisruptionPolicy&) const = default;
};

// For the files that this release writes. containerd and the kubelet read most of them on demand.
const DisruptionPolicy& default_disruption_policy();

struct PolicyInForce {
  DisruptionPolicy policy;
  Findings findings{};  // what is wrong in spec.nodeDisruptionPolicy
};

// The policy that machines use: the defaults with the entries of spec.nodeDisruptionPolicy, which replace defaults of the same
// path or unit. While spec is not valid, the last valid policy, which is in status; without one, the defaults. Findings: an
// unknown type of action; Reboot or None beside other actions; a unit that is missing, not wanted or no name of a unit; a path
// that is not absolute or has parts like ".."; two entries for one path or unit; an unknown field.
//
//   machine_configuration  the object; null: there is none
PolicyInForce policy_in_force(const Json& machine_configuration);

// As in status.nodeDisruptionPolicyStatus.clusterPolicies.
Json to_json(const DisruptionPolicy& policy);

}  // namespace slipway::machineconfig
