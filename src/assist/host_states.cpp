#include "assist/host_states.h"

#include <algorithm>
#include <array>
#include <vector>

namespace slipway::assist {

namespace {

using enum HostStatus;
using Hosts = Set<HostStatus>;
using Clusters = Set<ClusterStatus>;

constexpr Hosts discovered = {discovering, known, disconnected, insufficient, pending_for_input};
constexpr Hosts in_pool = {discovering_unbound, known_unbound, disconnected_unbound, insufficient_unbound};
constexpr Hosts preparing = {preparing_for_installation, preparing_successful};
constexpr Hosts in_progress = {installing, installing_in_progress, installing_pending_user_action};
constexpr Hosts ended = {installed, error, cancelled, added_to_existing_cluster};

bool always(const HostFacts&) { return true; }
bool is_lost(const HostFacts& facts) { return !facts.is_connected || !facts.has_medium; }
bool cluster_is(const HostFacts& facts, Clusters statuses) { return facts.cluster && statuses.contains(*facts.cluster); }
bool cluster_prepares(const HostFacts& facts) { return cluster_is(facts, {ClusterStatus::preparing_for_installation}); }
bool cluster_installs(const HostFacts& facts) {
  return cluster_is(facts, {ClusterStatus::installing, ClusterStatus::installing_pending_user_action, ClusterStatus::finalizing});
}
bool is_rebooting(const HostFacts& facts) { return facts.stage == Stage::rebooting; }
bool is_past_reboot(const HostFacts& facts) {
  return facts.stage && *facts.stage > Stage::rebooting && facts.stage != Stage::failed;
}

constexpr std::string_view boot_from_disk =
    "The host booted the discovery image again. Change its boot order to boot the installation disk, and restart it";

// The order counts.
const std::vector<HostRule>& rules() {
  using enum HostTrigger;
  static const std::vector<HostRule> all = {
      // its agent registers
      {"agent restarted", registered, preparing | in_progress | discovered | in_pool,
       [](const HostFacts& facts) { return facts.is_same_boot && !is_rebooting(facts); }, std::nullopt, ""},
      {"discovered again", registered, discovered | Hosts{resetting_pending_user_action, binding, preparing_failed}, always,
       discovering, "Waiting for the host to send its hardware", "", true},
      {"discovered again in the pool", registered,
       in_pool | Hosts{unbinding, unbinding_pending_user_action, reclaiming_rebooting}, always, discovering_unbound,
       "Waiting for the host to send its hardware", "", true},
      {"restarted while preparing", registered, preparing, always, known, "The host restarted. It can be installed again"},
      {"reset",
       registered,
       {resetting},
       [](const HostFacts& facts) { return !is_rebooting(facts); },
       discovering,
       "Waiting for the host to send its hardware",
       "",
       true},
      {"reset, rebooting", registered, {resetting}, always, std::nullopt, ""},
      {"wrong boot order",
       registered,
       {installing_in_progress, installing_pending_user_action},
       [](const HostFacts& facts) { return is_rebooting(facts) || is_past_reboot(facts); },
       installing_pending_user_action,
       boot_from_disk},
      {"wrong boot order of a later host",
       registered,
       {added_to_existing_cluster},
       always,
       installing_pending_user_action,
       boot_from_disk},
      {"restarted while installing",
       registered,
       {installing, installing_in_progress, installing_pending_user_action},
       always,
       error,
       "The host restarted before its installation disk was written"},
      {"failed before", registered, {error, cancelled}, always, std::nullopt, ""},
      {"installed before", registered, {installed}, always, std::nullopt, "", "the host is installed; it must boot its disk"},

      // time, reports, settings
      {"medium lost while installing",
       refresh,
       {installing, installing_in_progress},
       [](const HostFacts& facts) { return !facts.has_medium && !is_rebooting(facts) && !is_past_reboot(facts); },
       error,
       "The host cannot read its discovery image any more"},
      {"lost", refresh, discovered | preparing | Hosts{preparing_failed}, is_lost, disconnected, "The host does not answer"},
      {"lost in the pool", refresh, in_pool, is_lost, disconnected_unbound, "The host does not answer"},
      {"installation starts",
       refresh,
       {known},
       [](const HostFacts& facts) { return cluster_prepares(facts) && facts.is_sufficient; },
       preparing_for_installation,
       "Checking the host before the installation"},
      {"disk too slow",
       refresh,
       {preparing_for_installation, preparing_failed, known},
       [](const HostFacts& facts) { return facts.disk_speed == Check::failed; },
       insufficient,
       "The installation disk is too slow for etcd"},
      {"checks passed",
       refresh,
       {preparing_for_installation},
       [](const HostFacts& facts) {
         return cluster_prepares(facts) && facts.disk_speed == Check::passed && facts.images == Check::passed;
       },
       preparing_successful,
       "The host is ready for the installation"},
      {"images failed",
       refresh,
       {preparing_for_installation},
       [](const HostFacts& facts) { return facts.images == Check::failed; },
       preparing_failed,
       "The host cannot pull the images of the release"},
      {"checks overdue",
       refresh,
       {preparing_for_installation},
       [](const HostFacts& facts) { return facts.checks_overdue; },
       preparing_failed,
       "The checks before the installation did not end in time"},
      {"installing",
       refresh,
       {preparing_successful},
       [](const HostFacts& facts) { return cluster_installs(facts); },
       installing,
       "The installation starts"},
      {"installation called off", refresh, preparing | Hosts{preparing_failed},
       [](const HostFacts& facts) { return !cluster_prepares(facts) && !cluster_installs(facts); }, known,
       "The host can be installed"},
      {"lost while installing",
       refresh,
       {installing, installing_in_progress},
       [](const HostFacts& facts) {
         return !facts.is_connected && facts.stops_at_limits && !is_rebooting(facts) && !is_past_reboot(facts);
       },
       error,
       "The host does not answer"},
      {"cluster failed", refresh, in_progress | Hosts{installed, resetting_pending_user_action},
       [](const HostFacts& facts) { return !facts.is_day_two && cluster_is(facts, {ClusterStatus::error}); }, error,
       "The installation of the cluster failed"},
      {"not started",
       refresh,
       {installing},
       [](const HostFacts& facts) { return facts.start_overdue; },
       error,
       "The host did not start its installation in time"},
      {"reboot overdue",
       refresh,
       {installing_in_progress},
       [](const HostFacts& facts) { return facts.stage_overdue && is_rebooting(facts); },
       installing_pending_user_action,
       "The host did not come back from its disk. Look at its console, and correct its boot order"},
      {"stage overdue",
       refresh,
       {installing_in_progress},
       [](const HostFacts& facts) { return facts.stage_overdue && facts.stops_at_limits; },
       error,
       "The host did not finish its stage in time"},
      {"action overdue",
       refresh,
       {installing_pending_user_action},
       [](const HostFacts& facts) { return facts.action_overdue && facts.cluster_can_do_without && !facts.is_day_two; },
       error,
       "The boot order of the host was not corrected in time"},
      {"reclaim overdue",
       refresh,
       {reclaiming, reclaiming_rebooting},
       [](const HostFacts& facts) { return facts.action_overdue; },
       unbinding_pending_user_action,
       "Boot the host from the discovery image"},
      {"no hardware known", refresh, discovered, [](const HostFacts& facts) { return !facts.has_inventory; }, discovering,
       "Waiting for the host to send its hardware"},
      {"no hardware known in the pool", refresh, in_pool, [](const HostFacts& facts) { return !facts.has_inventory; },
       discovering_unbound, "Waiting for the host to send its hardware"},
      {"too little hardware", refresh, discovered, [](const HostFacts& facts) { return !facts.meets_minimum; }, insufficient,
       "The hardware of the host is not sufficient"},
      {"too little hardware in the pool", refresh, in_pool, [](const HostFacts& facts) { return !facts.meets_minimum; },
       insufficient_unbound, "The hardware of the host is not sufficient"},
      {"in the pool", refresh, in_pool, always, known_unbound, "The host can get a cluster"},
      {"no input", refresh, discovered, [](const HostFacts& facts) { return !facts.has_input; }, pending_for_input,
       "Waiting for the settings of the cluster"},
      {"not sufficient", refresh, discovered, [](const HostFacts& facts) { return !facts.is_sufficient; }, insufficient,
       "The host does not meet all requirements"},
      {"sufficient", refresh, discovered, always, known, "The host can be installed"},

      // a stage
      {"failure reported", progress, in_progress, [](const HostFacts& facts) { return facts.stage == Stage::failed; }, error,
       "The installation of the host failed"},
      {"later host done", progress, in_progress,
       [](const HostFacts& facts) { return facts.is_day_two && (facts.stage == Stage::rebooting || facts.stage == Stage::done); },
       added_to_existing_cluster, "The host restarts and joins the cluster"},
      {"done", progress, in_progress, [](const HostFacts& facts) { return facts.stage == Stage::done; }, installed,
       "The host is installed"},
      {"stage reported", progress, in_progress, always, installing_in_progress, "The host is being installed"},
      {"late report", progress, {installed, added_to_existing_cluster}, always, std::nullopt, ""},

      {"installer not started", installation_failed, in_progress, always, error, "The host could not start its installation"},

      // what users ask for
      {"later host installed",
       install,
       {known},
       [](const HostFacts& facts) { return facts.is_day_two; },
       installing,
       "The installation starts"},
      {"cancelled while preparing", cancel, preparing | Hosts{preparing_failed}, always, known, "The host can be installed"},
      {"cancelled", cancel, in_progress | ended, always, cancelled, "The installation was cancelled"},
      {"nothing to cancel", cancel, discovered, always, std::nullopt, ""},
      {"reset while preparing", HostTrigger::reset, preparing | Hosts{preparing_failed}, always, known,
       "The host can be installed"},
      {"reset", HostTrigger::reset, in_progress | ended | Hosts{resetting, resetting_pending_user_action}, always,
       resetting_pending_user_action, "Boot the host from the discovery image"},
      {"nothing to reset", HostTrigger::reset, discovered, always, std::nullopt, ""},
      {"bound", bind, {known_unbound}, always, binding, "The host joins its cluster"},
      {"unbound", unbind, discovered | preparing | Hosts{preparing_failed, binding, added_to_existing_cluster}, always, unbinding,
       "The host leaves its cluster"},
      {"unbound after an installation", unbind,
       in_progress | Hosts{installed, error, cancelled, resetting, resetting_pending_user_action}, always,
       unbinding_pending_user_action, "Boot the host from the discovery image"},
  };
  return all;
}

}  // namespace

HostChange first_registration(const HostFacts& facts) {
  constexpr Clusters open = {ClusterStatus::insufficient, ClusterStatus::ready, ClusterStatus::pending_for_input,
                             ClusterStatus::adding_hosts};
  constexpr std::string_view waiting = "Waiting for the host to send its hardware";
  if (!facts.cluster) return {.status = discovering_unbound, .rule = "new in the pool", .info = std::string(waiting)};
  if (!open.contains(*facts.cluster)) {
    return {.status = discovering,
            .rule = "too late",
            .refusal = "the cluster is being installed or is installed; it takes no more hosts"};
  }
  return {.status = discovering, .rule = "new", .info = std::string(waiting)};
}

HostChange change_of(HostStatus status, HostTrigger trigger, const HostFacts& facts) {
  for (const HostRule& rule : rules()) {
    if (rule.trigger != trigger || !rule.from.contains(status) || !rule.applies(facts)) continue;
    return {.status = rule.to.value_or(status),
            .rule = rule.name,
            .info = std::string(rule.info),
            .refusal = rule.refusal,
            .forgets_inventory = rule.forgets_inventory};
  }
  HostChange none{.status = status};
  if (trigger != HostTrigger::refresh) none.refusal = "the state of the host does not allow it";
  return none;
}

std::span<const HostRule> host_rules() { return rules(); }

std::string_view to_string(HostTrigger trigger) {
  switch (trigger) {
    case HostTrigger::registered: return "registered";
    case HostTrigger::refresh: return "refresh";
    case HostTrigger::progress: return "progress";
    case HostTrigger::installation_failed: return "installation-failed";
    case HostTrigger::install: return "install";
    case HostTrigger::cancel: return "cancel";
    case HostTrigger::reset: return "reset";
    case HostTrigger::bind: return "bind";
    case HostTrigger::unbind: break;
  }
  return "unbind";
}

}  // namespace slipway::assist
