#include "assist/facts.h"

#include "assist/requirements.h"

#include <algorithm>

namespace slipway::assist {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Milliseconds limit_of_checks = minutes(8), limit_of_start = minutes(20), limit_of_action = minutes(60);
constexpr Milliseconds limit_of_preparation = minutes(10), limit_of_installation = hours(24), limit_of_finalizing = hours(5);

constexpr Set<HostStatus> failed = {HostStatus::error, HostStatus::cancelled};
constexpr Set<HostStatus> prepared = {HostStatus::preparing_successful, HostStatus::installing,
                                      HostStatus::installing_in_progress, HostStatus::installing_pending_user_action,
                                      HostStatus::installed};

// Whether masters and workers for which `counts` is true are enough. Losing workers is no failure while two remain, or if fewer
// than two were wanted.
template <class Counts>
bool are_enough(const Cluster& cluster, const std::vector<const Host*>& hosts, const Counts& counts) {
  int masters = 0, workers = 0, wanted_workers = 0;
  for (const Host* host : hosts) {
    const bool is_master = host->effective_role() == Role::master;
    wanted_workers += !is_master;
    if (counts(*host)) ++(is_master ? masters : workers);
  }
  return masters >= cluster.control_plane_count && (wanted_workers < 2 || workers >= 2);
}

Check speed_of_disk(const Host& host, const Requirements& needed) {
  const Disk* disk = installation_disk(host, needed);
  if (!disk) return Check::unknown;
  const auto measured = host.checks.disk_latency_ms.find(disk->path);
  if (measured == host.checks.disk_latency_ms.end()) return Check::unknown;
  return measured->second >= 0 && measured->second <= needed.disk_latency_ms ? Check::passed : Check::failed;
}

// Whether a user ignores the validation, which fails.
bool is_disabled(const std::vector<Validation>& validations, std::string_view id) {
  const auto found = std::ranges::find(validations, id, &Validation::id);
  return found != validations.end() && found->outcome == Outcome::disabled;
}

Check state_of_images(const Host& host) {
  if (!host.checks.images) return Check::unknown;
  return std::ranges::all_of(*host.checks.images, [](const auto& image) { return image.second; }) ? Check::passed : Check::failed;
}

}  // namespace

std::optional<WallTime> next_limit(const HostScene& scene) {
  const Host& host = scene.host;
  std::optional<WallTime> next;
  // A limit has passed when more than its time is over.
  const auto consider = [&](WallTime since, Milliseconds limit) {
    const WallTime then = since + limit + Milliseconds(1);
    if (then > scene.now && (!next || then < *next)) next = then;
  };
  consider(host.checked_in, contact_limit(host));
  switch (host.status) {
    case HostStatus::preparing_for_installation: consider(host.status_since, limit_of_checks); break;
    case HostStatus::installing: consider(host.status_since, limit_of_start); break;
    case HostStatus::installing_pending_user_action:
    case HostStatus::reclaiming:
    case HostStatus::reclaiming_rebooting: consider(host.status_since, limit_of_action); break;
    case HostStatus::installing_in_progress:
      if (host.stage && scene.cluster) consider(host.stage_since, limit_of(placement_of(host, *scene.cluster), *host.stage));
      break;
    default: break;
  }
  return next;
}

std::optional<WallTime> next_limit(const Cluster& cluster, const InstallationReports& reports, WallTime now) {
  std::optional<WallTime> then;
  switch (cluster.status) {
    case ClusterStatus::preparing_for_installation: then = reports.preparation_began + limit_of_preparation; break;
    case ClusterStatus::installing:
    case ClusterStatus::installing_pending_user_action: then = reports.installation_began + limit_of_installation; break;
    case ClusterStatus::finalizing: then = reports.finalizing_began + limit_of_finalizing; break;
    default: return std::nullopt;
  }
  *then += Milliseconds(1);
  return *then > now ? then : std::nullopt;
}

Placement placement_of(const Host& host, const Cluster& cluster) {
  if (host.effective_role() != Role::master) return Placement::worker;
  if (cluster.is_single_node()) return Placement::single_node;
  return host.is_bootstrap && !cluster.is_day_two ? Placement::bootstrap : Placement::master;
}

HostFacts host_facts(const HostScene& scene, const std::vector<Validation>& validations, bool stops_at_limits) {
  const Host& host = scene.host;
  const Milliseconds in_status = scene.now - host.status_since;
  HostFacts facts{.is_connected = scene.now - host.checked_in <= contact_limit(host),
                  .has_medium = host.has_medium,
                  .has_inventory = host.inventory.has_value(),
                  .meets_minimum = pass(validations, Weight::minimum),
                  .has_input = pass(validations, Weight::input),
                  .is_sufficient = pass(validations, Weight::blocking),
                  .images = state_of_images(host),
                  .checks_overdue = in_status > limit_of_checks,
                  .stage = host.stage,
                  .start_overdue = in_status > limit_of_start,
                  .action_overdue = in_status > limit_of_action,
                  .stops_at_limits = stops_at_limits};
  if (!scene.cluster) return facts;
  const Cluster& cluster = *scene.cluster;
  facts.cluster = cluster.status;
  facts.is_day_two = cluster.is_day_two;
  facts.disk_speed = speed_of_disk(host, requirements_of(host.effective_role(), cluster.is_single_node()));
  if (facts.disk_speed == Check::failed && is_disabled(validations, "sufficient-installation-disk-speed")) {
    facts.disk_speed = Check::passed;
  }
  facts.cluster_can_do_without =
      are_enough(cluster, scene.hosts, [&](const Host& each) { return each.id != host.id && !failed.contains(each.status); });
  if (host.stage) facts.stage_overdue = scene.now - host.stage_since > limit_of(placement_of(host, cluster), *host.stage);
  return facts;
}

ClusterFacts cluster_facts(const Cluster& cluster, const std::vector<const Host*>& hosts,
                           const std::vector<Validation>& validations, const InstallationReports& reports, WallTime now,
                           bool stops_at_limits) {
  constexpr Set<HostStatus> unprepared = {HostStatus::preparing_failed, HostStatus::insufficient};
  constexpr Set<HostStatus> still_preparing = {HostStatus::known, HostStatus::preparing_for_installation};
  const auto any = [&](auto holds) { return std::ranges::any_of(hosts, [&](const Host* host) { return holds(host->status); }); };
  const auto all = [&](auto holds) { return std::ranges::all_of(hosts, [&](const Host* host) { return holds(host->status); }); };
  return {
      .has_input = pass(validations, Weight::input),
      .is_sufficient = pass(validations, Weight::blocking),
      .hosts_are_prepared = all([&](HostStatus status) { return prepared.contains(status); }),
      .host_left = any([&](HostStatus status) {
        return !prepared.contains(status) && !still_preparing.contains(status) && !unprepared.contains(status);
      }),
      .host_failed = any([&](HostStatus status) { return unprepared.contains(status); }),
      .assets_are_made = reports.assets_are_made,
      .assets_failed = reports.assets_failed,
      .preparation_overdue = now - reports.preparation_began > limit_of_preparation,
      .enough_are_installed = are_enough(cluster, hosts, [](const Host& host) { return host.status == HostStatus::installed; }),
      .enough_can_succeed = are_enough(cluster, hosts, [](const Host& host) { return !failed.contains(host.status); }),
      .host_waits_for_user = any([](HostStatus status) { return status == HostStatus::installing_pending_user_action; }),
      .all_hosts_ended = all([](HostStatus status) { return status == HostStatus::installed || status == HostStatus::error; }),
      .operators_are_available = reports.operators_are_available,
      .controller_failed = reports.controller_failed,
      .installation_overdue = now - reports.installation_began > limit_of_installation,
      .finalizing_overdue = now - reports.finalizing_began > limit_of_finalizing,
      .stops_at_limits = stops_at_limits,
  };
}

}  // namespace slipway::assist
