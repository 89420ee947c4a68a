// The state machine of clusters as a table, as that of hosts (host_states.h). Pure.
#pragma once

#include "assist/status.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace slipway::assist {

enum class ClusterTrigger : std::uint8_t {
  refresh,  // anything may have changed: a host, a setting, time
  install,
  cancel,
  reset,
  add_hosts,  // an installed cluster takes more hosts
};

struct ClusterFacts {
  bool has_input = false;      // networks, base domain, pull secret, virtual addresses
  bool is_sufficient = false;  // all validations pass
  // preparation
  bool hosts_are_prepared = false;  // every host is preparing-successful or further
  bool host_left = false;           // a host is not prepared any more: lost, restarted
  bool host_failed = false;         // a host is preparing-failed or insufficient
  bool assets_are_made = false;
  bool assets_failed = false;
  bool preparation_overdue = false;
  // installation
  bool enough_are_installed = false;  // all masters, and of two or more workers at least two
  bool enough_can_succeed = true;     // the same, of the hosts that have not failed
  bool host_waits_for_user = false;
  bool all_hosts_ended = false;  // installed or failed
  bool operators_are_available = false;
  bool controller_failed = false;  // it reported a failure
  bool installation_overdue = false;
  bool finalizing_overdue = false;
  bool stops_at_limits = false;  // otherwise a limit is only reported
};

struct ClusterChange {
  ClusterStatus status = ClusterStatus::insufficient;  // the old one if nothing changes
  std::string_view rule{};                             // name of the row; empty if no row matches
  std::string info{};                                  // a sentence for people
  std::string_view refusal{};                          // why a request is refused (409)
};

ClusterChange change_of(ClusterStatus status, ClusterTrigger trigger, const ClusterFacts& facts);

// The rows, for documents and tests.
struct ClusterRule {
  std::string_view name;
  ClusterTrigger trigger;
  Set<ClusterStatus> from;
  bool (*applies)(const ClusterFacts& facts);
  ClusterStatus to;
  std::string_view info;
};
std::span<const ClusterRule> cluster_rules();

std::string_view to_string(ClusterTrigger trigger);

}  // namespace slipway::assist
