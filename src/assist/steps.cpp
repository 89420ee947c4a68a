#include "assist/steps.h"

#include "assist/facts.h"
#include "assist/requirements.h"
#include "base/digest.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace slipway::assist {

namespace {

using enum HostStatus;

// The argument of a step; nullopt: the step is not needed. An empty object: the step has no argument.
using Argument = std::optional<Json>;

struct Scene {
  const HostScene& host;
  const StepSettings& settings;

  const Cluster& cluster() const { return *host.cluster; }
};

Json none() { return JsonObject{}; }

Argument no_argument(const Scene&) { return none(); }

Argument connectivity(const Scene& scene) {
  JsonArray hosts;
  for (const Host* other : scene.host.hosts) {
    if (other->id == scene.host.host.id || !other->inventory) continue;
    JsonArray nics;
    for (const Interface& interface : other->inventory->interfaces) {
      JsonArray addresses;
      for (const net::Cidr& address : interface.addresses) addresses.emplace_back(net::to_string(address.address));
      if (addresses.empty()) continue;
      nics.push_back(Json{{"name", interface.name}, {"mac", interface.mac_address}, {"ip_addresses", std::move(addresses)}});
    }
    if (!nics.empty()) hosts.push_back(Json{{"host_id", other->id}, {"nics", std::move(nics)}});
  }
  if (hosts.empty()) return std::nullopt;
  return Json(std::move(hosts));
}

Argument time_servers(const Scene& scene) {
  std::vector<std::string> servers;
  if (scene.host.cluster) servers = scene.cluster().time_servers;
  for (const std::string_view each : split(scene.settings.time_servers, ',')) {
    if (!trim(each).empty()) servers.emplace_back(trim(each));
  }
  return Json{{"ntp_source", join(servers, ",")}};
}

Argument domains(const Scene& scene) {
  const Cluster& cluster = scene.cluster();
  if (cluster.base_domain.empty()) return std::nullopt;
  JsonArray names;
  constexpr std::array<std::string_view, 4> labels = {"api", "api-int", "console-openshift-console.apps", wildcard_probe};
  for (const std::string_view name : labels) {
    names.push_back(Json{{"domain_name", fmt::format("{}.{}", name, cluster.domain())}});
  }
  return Json{{"domains", std::move(names)}};
}

Argument virtual_addresses(const Scene& scene) {
  const Cluster& cluster = scene.cluster();
  JsonArray all;
  for (const auto& [addresses, type] :
       {std::pair(&cluster.api_addresses, "api"), std::pair(&cluster.ingress_addresses, "ingress")}) {
    for (const net::IpAddress& address : *addresses) all.push_back(Json{{"vip", net::to_string(address)}, {"vip_type", type}});
  }
  if (all.empty() || !cluster.has_virtual_addresses()) return std::nullopt;
  return Json(std::move(all));
}

Argument api_of_cluster(const Scene& scene) {
  const Cluster& cluster = scene.cluster();
  const std::string host =
      cluster.api_addresses.empty() ? "api-int." + cluster.domain() : net::to_string(cluster.api_addresses.front());
  const std::string usual = fmt::format("https://{}/config/worker", net::host_and_port(host, 22623));
  JsonObject argument = {{"url", cluster.ignition_url.empty() ? usual : cluster.ignition_url}};
  if (!cluster.ignition_authority.empty()) argument["ca_certificate"] = cluster.ignition_authority;
  if (!scene.settings.ignition_token.empty()) argument["ignition_endpoint_token"] = scene.settings.ignition_token;
  return Json(std::move(argument));
}

const Disk* target(const Scene& scene) {
  return installation_disk(scene.host.host, requirements_of(scene.host.host.effective_role(), scene.cluster().is_single_node()));
}

// Once for each disk, because the measurement writes.
Argument disk_speed(const Scene& scene) {
  const Disk* disk = target(scene);
  if (!disk || scene.host.host.checks.disk_latency_ms.contains(disk->path)) return std::nullopt;
  return Json{{"path", disk->path}};
}

Argument images(const Scene& scene) {
  if (scene.host.host.checks.images) return std::nullopt;
  JsonArray names;
  if (!scene.settings.release_image.empty()) names.emplace_back(scene.settings.release_image);
  return Json{{"images", std::move(names)}, {"timeout", 960}};
}

Argument installation(const Scene& scene) {
  const Host& host = scene.host.host;
  const Cluster& cluster = scene.cluster();
  const Disk* disk = target(scene);
  const Placement placement = placement_of(host, cluster);
  const bool is_bootstrap = placement == Placement::bootstrap || placement == Placement::single_node;
  const std::string_view role = is_bootstrap ? "bootstrap" : to_string(host.effective_role());
  JsonObject argument = {{"cluster_id", cluster.id},
                         {"infra_env_id", host.infra_env},
                         {"host_id", host.id},
                         {"role", role},
                         {"boot_device", disk ? disk->id : std::string()},
                         {"controller_image", scene.settings.controller_image},
                         {"installer_image", scene.settings.installer_image},
                         {"control_plane_count", host.effective_role() == Role::master ? cluster.control_plane_count : 0},
                         {"openshift_version", scene.settings.openshift_version},
                         {"check_cvo", true},
                         {"disks_to_format", JsonArray{}}};
  if (scene.settings.is_on_bootstrap_host && placement == Placement::bootstrap) argument[waits_for_hosts] = true;
  if (!scene.settings.installer_args.empty()) argument["installer_args"] = scene.settings.installer_args;
  return Json(std::move(argument));
}

Argument logs(const Scene& scene) {
  const Host& host = scene.host.host;
  return Json{{"cluster_id", host.cluster},     {"infra_env_id", host.infra_env},        {"host_id", host.id},
              {"bootstrap", host.is_bootstrap}, {"installer_gather", host.is_bootstrap}, {"master_ips", JsonArray{}}};
}

struct Row {
  std::string_view type;
  Set<HostStatus> states;
  enum class Of { any, cluster, new_cluster, day_two } of;
  Argument (*argument)(const Scene& scene);
};

constexpr Set<HostStatus> waiting = {known, insufficient, pending_for_input};
constexpr Set<HostStatus> in_pool = {discovering_unbound, insufficient_unbound, known_unbound};
using Of = Row::Of;

constexpr std::array rows = {
    Row{"inventory", waiting | in_pool | Set<HostStatus>{discovering, disconnected, disconnected_unbound}, Of::any, no_argument},
    Row{"connectivity-check", waiting, Of::cluster, connectivity},
    Row{"ntp-synchronizer", waiting | in_pool, Of::any, time_servers},
    Row{"domain-resolution", waiting, Of::cluster, domains},
    Row{"verify-vips", waiting, Of::new_cluster, virtual_addresses},
    Row{"api-vip-connectivity-check", waiting, Of::day_two, api_of_cluster},
    Row{"installation-disk-speed-check", {preparing_for_installation}, Of::cluster, disk_speed},
    Row{"container-image-availability", {preparing_for_installation}, Of::cluster, images},
    Row{"install", {installing}, Of::cluster, installation},
    Row{"logs-gather", {error, cancelled}, Of::cluster, logs},
    Row{"stop-installation", {error, cancelled}, Of::any, no_argument},
};

bool applies(const Row& row, const HostScene& scene) {
  if (!row.states.contains(scene.host.status)) return false;
  switch (row.of) {
    case Of::any: return true;
    case Of::cluster: return scene.cluster;
    case Of::new_cluster: return scene.cluster && !scene.cluster->is_day_two;
    case Of::day_two: break;
  }
  return scene.cluster && scene.cluster->is_day_two;
}

Seconds interval_of(HostStatus status) {
  constexpr Set<HostStatus> seldom = {disconnected, disconnected_unbound, error, cancelled};
  return Seconds(seldom.contains(status) ? 120 : 60);
}

}  // namespace

Steps steps_of(const HostScene& scene, const StepSettings& settings) {
  constexpr Set<HostStatus> changing_cluster = {binding, unbinding, unbinding_pending_user_action, reclaiming_rebooting};
  const HostStatus status = scene.host.status;
  if (changing_cluster.contains(status)) return {.next = Seconds(0), .exits = true};
  Steps found{.next = interval_of(status)};
  for (const Row& row : rows) {
    if (!applies(row, scene)) continue;
    const Argument argument = row.argument({scene, settings});
    if (!argument) continue;
    const bool is_empty = argument->is_object() && argument->get_object().empty();
    Step step{.id = "", .type = row.type, .argument = is_empty ? std::string() : emit_json(*argument, JsonStyle::compact)};
    step.id =
        fmt::format("{}-{}", row.type, sha256_hex(fmt::format("{} {} {}", scene.host.id, row.type, step.argument)).substr(0, 8));
    found.steps.push_back(std::move(step));
  }
  return found;
}

}  // namespace slipway::assist
