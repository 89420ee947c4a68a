#include "assist/cluster_states.h"

#include <vector>

namespace slipway::assist {

namespace {

using enum ClusterStatus;
using Clusters = Set<ClusterStatus>;

constexpr Clusters before = {insufficient, pending_for_input, ready};
constexpr Clusters in_progress = {ClusterStatus::installing, installing_pending_user_action, finalizing};

bool always(const ClusterFacts&) { return true; }

// The order counts.
const std::vector<ClusterRule>& rules() {
  using enum ClusterTrigger;
  static const std::vector<ClusterRule> all = {
      {"input missing", refresh, before, [](const ClusterFacts& facts) { return !facts.has_input; }, pending_for_input,
       "The cluster needs more settings"},
      {"not sufficient", refresh, before, [](const ClusterFacts& facts) { return !facts.is_sufficient; }, insufficient,
       "The cluster does not meet all requirements"},
      {"sufficient", refresh, before, always, ready, "The cluster can be installed"},

      {"host left",
       refresh,
       {preparing_for_installation},
       [](const ClusterFacts& facts) { return facts.host_left; },
       insufficient,
       "A host left while the installation was prepared"},
      {"preparation failed",
       refresh,
       {preparing_for_installation},
       [](const ClusterFacts& facts) { return facts.host_failed || facts.assets_failed; },
       ready,
       "The preparation of the installation failed"},
      {"prepared",
       refresh,
       {preparing_for_installation},
       [](const ClusterFacts& facts) { return facts.hosts_are_prepared && facts.assets_are_made; },
       ClusterStatus::installing,
       "The installation runs"},
      {"preparation overdue",
       refresh,
       {preparing_for_installation},
       [](const ClusterFacts& facts) { return facts.preparation_overdue; },
       ready,
       "The preparation of the installation did not end in time"},

      {"too few hosts", refresh, in_progress, [](const ClusterFacts& facts) { return !facts.enough_can_succeed; }, error,
       "Too few hosts can still be installed"},
      {"failure reported",
       refresh,
       {finalizing},
       [](const ClusterFacts& facts) { return facts.controller_failed; },
       error,
       "The cluster reported a failure"},
      {"installation overdue", refresh, in_progress,
       [](const ClusterFacts& facts) { return facts.installation_overdue && facts.stops_at_limits; }, error,
       "The installation did not end in time"},
      {"finalizing overdue",
       refresh,
       {finalizing},
       [](const ClusterFacts& facts) { return facts.finalizing_overdue && facts.stops_at_limits; },
       error,
       "The operators of the cluster did not become available in time"},
      {"user must act",
       refresh,
       {ClusterStatus::installing, finalizing},
       [](const ClusterFacts& facts) { return facts.host_waits_for_user; },
       installing_pending_user_action,
       "A host booted the wrong medium"},
      {"user acted, enough installed",
       refresh,
       {installing_pending_user_action},
       [](const ClusterFacts& facts) { return !facts.host_waits_for_user && facts.enough_are_installed; },
       finalizing,
       "The operators of the cluster start"},
      {"user acted",
       refresh,
       {installing_pending_user_action},
       [](const ClusterFacts& facts) { return !facts.host_waits_for_user; },
       ClusterStatus::installing,
       "The installation runs"},
      {"enough installed",
       refresh,
       {ClusterStatus::installing},
       [](const ClusterFacts& facts) { return facts.enough_are_installed; },
       finalizing,
       "The operators of the cluster start"},
      {"installed",
       refresh,
       {finalizing},
       [](const ClusterFacts& facts) { return facts.all_hosts_ended && facts.operators_are_available; },
       installed,
       "The cluster is installed"},

      {"installation requested", install, {ready}, always, preparing_for_installation, "The installation is being prepared"},
      {"cancelled while preparing", cancel, {preparing_for_installation}, always, ready, "The cluster can be installed"},
      {"cancelled", cancel, in_progress | Clusters{error}, always, cancelled, "The installation was cancelled"},
      {"reset", reset, in_progress | Clusters{preparing_for_installation, error, cancelled}, always, insufficient,
       "Boot the hosts from the discovery image"},
      {"takes hosts", add_hosts, {installed}, always, adding_hosts, "The cluster takes more hosts"},
  };
  return all;
}

std::string_view refusal_of(ClusterTrigger trigger) {
  switch (trigger) {
    case ClusterTrigger::install: return "only a cluster that is ready can be installed";
    case ClusterTrigger::cancel: return "there is no installation to cancel";
    case ClusterTrigger::reset: return "there is no installation to reset";
    case ClusterTrigger::add_hosts: return "only an installed cluster takes more hosts";
    case ClusterTrigger::refresh: break;
  }
  return {};
}

}  // namespace

ClusterChange change_of(ClusterStatus status, ClusterTrigger trigger, const ClusterFacts& facts) {
  for (const ClusterRule& rule : rules()) {
    if (rule.trigger != trigger || !rule.from.contains(status) || !rule.applies(facts)) continue;
    return {.status = rule.to, .rule = rule.name, .info = std::string(rule.info)};
  }
  return {.status = status, .refusal = refusal_of(trigger)};
}

std::span<const ClusterRule> cluster_rules() { return rules(); }

std::string_view to_string(ClusterTrigger trigger) {
  switch (trigger) {
    case ClusterTrigger::refresh: return "refresh";
    case ClusterTrigger::install: return "install";
    case ClusterTrigger::cancel: return "cancel";
    case ClusterTrigger::reset: return "reset";
    case ClusterTrigger::add_hosts: break;
  }
  return "add-hosts";
}

}  // namespace slipway::assist
