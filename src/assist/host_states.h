// The state machine of hosts as a table: the first row whose trigger, states and condition match decides. Pure.
//
//   const HostChange change = change_of(host.status, HostTrigger::refresh, facts);
//   if (change.refusal.empty() && change.status != host.status) store.set_status(host, change.status, change.info);
#pragma once

#include "assist/status.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace slipway::assist {

enum class HostTrigger : std::uint8_t {
  registered,           // its agent registers
  refresh,              // anything may have changed: a report, a setting, time
  progress,             // it reports a stage
  installation_failed,  // its agent could not start the installer
  install,              // a user installs a host of a cluster that exists
  cancel,
  reset,
  bind,    // a host without a cluster gets one
  unbind,  // a host leaves its cluster
};

enum class Check : std::uint8_t { unknown, passed, failed };

// What the conditions of the table depend on.
struct HostFacts {
  // its cluster
  std::optional<ClusterStatus> cluster{};
  bool is_day_two = false;              // the cluster existed before
  bool cluster_can_do_without = false;  // enough other hosts can still be installed
  // its agent
  bool is_connected = true;  // heard of in time
  bool has_medium = true;    // the discovery image can be read
  bool has_inventory = false;
  bool is_same_boot = false;  // registered: the agent has the boot ID of the host's last registration
  // validations
  bool meets_minimum = false;  // of hardware, for any role
  bool has_input = false;      // the networks of the cluster are known
  bool is_sufficient = false;  // all blocking validations pass
  Check disk_speed = Check::unknown;
  Check images = Check::unknown;
  bool checks_overdue = false;  // the checks before an installation took too long
  // its installation
  std::optional<Stage> stage{};
  bool stage_overdue = false;
  bool start_overdue = false;    // it was told to install, and has not begun
  bool action_overdue = false;   // a user had to act, and has not
  bool stops_at_limits = false;  // otherwise a limit is only reported
};

struct HostChange {
  HostStatus status = HostStatus::discovering;  // the old one if nothing changes
  std::string_view rule{};                      // name of the row; empty if no row matches
  std::string info{};                           // a sentence for people
  std::string_view refusal{};                   // registered, install, cancel and others: why the request is refused (409)
  bool forgets_inventory = false;
};

// A new host, which has no status.
HostChange first_registration(const HostFacts& facts);

HostChange change_of(HostStatus status, HostTrigger trigger, const HostFacts& facts);

// The rows, for documents and tests.
struct HostRule {
  std::string_view name;
  HostTrigger trigger;
  Set<HostStatus> from;
  bool (*applies)(const HostFacts& facts);
  std::optional<HostStatus> to;  // nullopt: stays
  std::string_view info;
  std::string_view refusal = {};
  bool forgets_inventory = false;
};
std::span<const HostRule> host_rules();

std::string_view to_string(HostTrigger trigger);

}  // namespace slipway::assist
