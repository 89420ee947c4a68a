#include "service/rendezvous.h"

#include "assist/disk_hints.h"
#include "base/flags.h"
#include "base/text.h"
#include "net/interfaces.h"
#include "net/url.h"
#include "service/api_parts.h"
#include "service/server.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace slipway::service {

namespace {

using assist::ClusterStatus;

constexpr Milliseconds no_limit = std::chrono::hours(24 * 365), longest_sleep = std::chrono::hours(1);
constexpr Milliseconds between_attempts = Seconds(30);  // a preparation that failed may fail again at once
constexpr sys::Pace address_pace{Milliseconds(200), Milliseconds(1'000)};
constexpr assist::Set<ClusterStatus> before_installation = {ClusterStatus::insufficient, ClusterStatus::pending_for_input,
                                                            ClusterStatus::ready};

bool is_at(const assist::Host& host, const net::IpAddress& address) {
  return host.inventory && std::ranges::any_of(host.inventory->interfaces, [&](const assist::Interface& interface) {
           return std::ranges::any_of(interface.addresses, [&](const net::Cidr& each) { return each.address == address; });
         });
}

const PlannedHost* planned_of(const RendezvousConfig& config, const assist::Host& host) {
  for (const PlannedHost& planned : config.hosts) {
    for (const assist::Interface& interface : host.inventory->interfaces) {
      const std::string mac = to_lower(interface.mac_address);
      if (std::ranges::find(planned.mac_addresses, mac) != planned.mac_addresses.end()) return &planned;
    }
  }
  return nullptr;
}

std::string name_of(const PlannedHost& host) {
  return host.hostname.empty() ? host.mac_addresses.empty() ? "" : host.mac_addresses.front() : host.hostname;
}

HostSetting setting_of(const HostRecord& record) {
  return {.key = record.table_key(),
          .role = record.host.role,
          .hostname = record.host.requested_hostname,
          .disk = record.host.chosen_disk,
          .is_bootstrap = record.host.is_bootstrap};
}

Result<> wait_for_address(const net::Environment& environment, const std::string& text) {
  const net::IpAddress address = TRY(net::parse_ip(text));
  bool said = false;
  return sys::wait_for(
      environment.context, fmt::format("address {}", text), no_limit,
      [&]() -> Result<sys::Observation> {
        if (TRY(net::has_address(address))) return sys::Observation::done();
        if (!said) environment.context.log.info("this host does not have address {}: another host runs the service", text);
        said = true;
        return sys::Observation::not_yet("this host does not have it");
      },
      nullptr, address_pace);
}

Result<> apply(Core& core, const std::vector<HostSetting>& settings) {
  return core.run([&](Edit& edit) -> Result<> {
    for (const HostSetting& setting : settings) {
      HostRecord record = *TRY(host_of(edit.world(), setting.key));
      record.host.role = setting.role;
      record.host.requested_hostname = setting.hostname;
      record.host.chosen_disk = setting.disk;
      record.host.is_bootstrap = setting.is_bootstrap;
      record.updated = edit.now();
      edit.add(event_of(record, "host_updated", EventSeverity::info, "has the settings of agent-config.yaml"));
      edit.touch(record);
      edit.put(std::move(record));
    }
    return Ok{};
  });
}

}  // namespace

RendezvousPlan plan_rendezvous(const RendezvousConfig& config, const ClusterRecord& cluster,
                               const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  RendezvousPlan plan;
  const Result<net::IpAddress> address = net::parse_ip(config.address);
  std::set<const PlannedHost*> seen;
  std::vector<std::string> waits;
  bool has_rendezvous = false;
  for (const auto& record : hosts) {
    const assist::Host& host = record->host;
    if (!host.inventory) continue;
    HostSetting setting = setting_of(*record);
    const bool is_rendezvous = address.ok() && is_at(host, address.value());
    setting.is_bootstrap = is_rendezvous;
    if (is_rendezvous) {
      has_rendezvous = true;
      setting.role = assist::Role::master;
    }
    if (const PlannedHost* planned = planned_of(config, host)) {
      seen.insert(planned);
      if (planned->role != assist::Role::auto_assign) setting.role = planned->role;
      if (!planned->hostname.empty()) setting.hostname = planned->hostname;
      if (!planned->disk_hints.is_object() || !planned->disk_hints.get_object().empty()) {
        const assist::Requirements needed = assist::requirements_of(setting.role, cluster.cluster.is_single_node());
        const assist::Disk* disk = assist::find_hinted_disk(*host.inventory, needed, planned->disk_hints);
        if (disk) {
          setting.disk = disk->id;
        } else {
          waits.push_back(fmt::format("host {} has no disk that matches its rootDeviceHints", name_of(*planned)));
        }
      }
    }
    if (is_rendezvous && setting.role != assist::Role::master)
      waits.push_back(fmt::format("the host with the rendezvousIP {} has role {} in agent-config.yaml, and must be a master",
                                  config.address, assist::to_string(setting.role)));
    if (setting != setting_of(*record)) plan.settings.push_back(std::move(setting));
  }
  for (const PlannedHost& planned : config.hosts) {
    if (!seen.contains(&planned)) waits.push_back(fmt::format("host {} has not reported its hardware", name_of(planned)));
  }
  if (static_cast<int>(hosts.size()) < config.expected_hosts)
    waits.push_back(fmt::format("{} of {} hosts have registered", hosts.size(), config.expected_hosts));
  if (static_cast<int>(hosts.size()) > config.expected_hosts)
    waits.push_back(fmt::format("{} hosts have registered, but the cluster has {}", hosts.size(), config.expected_hosts));
  if (!has_rendezvous) waits.push_back(fmt::format("no host with the rendezvousIP {} has registered", config.address));
  if (!plan.settings.empty()) waits.emplace_back("hosts get their settings");
  if (waits.empty() && cluster.cluster.status != ClusterStatus::ready)
    waits.push_back(fmt::format("the cluster is {}: {}", assist::to_string(cluster.cluster.status), cluster.status_info));
  plan.waits_for = join(waits, "; ");
  return plan;
}

Result<> register_cluster(Core& core, const RendezvousConfig& config) {
  const std::string& id = config.cluster.cluster.id;
  if (core.look([&](const World& world) { return look_up(world.clusters, id); })) return Ok{};
  return core.run([&](Edit& edit) -> Result<> {
    ClusterRecord cluster = config.cluster;
    cluster.created = cluster.updated = cluster.status_since = edit.now();
    edit.add(event_of(cluster, "cluster_registration_succeeded", EventSeverity::info, "registered by the image"));
    edit.put(std::move(cluster));
    edit.put(config.infra_env);
    for (const TokenRecord& token : config.tokens) edit.put(token);
    edit.touch_cluster(id);
    return Ok{};
  });
}

// In the log of the host, and as an event, for people who watch from outside.
void RendezvousDriver::say(Core& core, const std::string& what) {
  if (what == said_) return;
  said_ = what;
  environment_.context.log.info("{}", what);
  const Result<> told = core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(cluster_of(edit.world(), config_.cluster.cluster.id));
    edit.add(event_of(*record, "rendezvous_progress", EventSeverity::info, what));
    return Ok{};
  });
  if (!told.ok()) environment_.context.log.warn("cannot add an event: {}; continuing without it", told.error().message());
}

Milliseconds RendezvousDriver::drive(Core& core) {
  const std::string& id = config_.cluster.cluster.id;
  const auto [cluster, hosts] =
      core.look([&](const World& world) { return std::pair(look_up(world.clusters, id), world.hosts_of_cluster(id)); });
  if (!cluster) return longest_sleep;
  if (!before_installation.contains(cluster->cluster.status)) {
    say(core, fmt::format("the cluster is {}", assist::to_string(cluster->cluster.status)));
    return longest_sleep;
  }
  const RendezvousPlan plan = plan_rendezvous(config_, *cluster, hosts);
  if (!plan.settings.empty()) {
    const Result<> applied = apply(core, plan.settings);
    if (applied.ok()) return Milliseconds(0);  // the hosts are checked with their settings: plan again
    say(core, fmt::format("the settings of hosts cannot be changed: {}; trying again", applied.error().message()));
    return between_attempts;
  }
  if (!plan.waits_for.empty()) {
    say(core, "waiting: " + plan.waits_for);
    return longest_sleep;
  }
  const SteadyTime now = environment_.context.clock.steady();
  if (now < next_start_) return std::chrono::duration_cast<Milliseconds>(next_start_ - now);
  next_start_ = now + between_attempts;
  const Result<> started = core.run([&](Edit& edit) { return start_installation(edit, id); });
  say(core, started.ok() ? "the installation starts"
                         : fmt::format("the installation cannot start: {}", started.error().message()));
  return between_attempts;
}

Result<> run_rendezvous(const net::Environment& environment, const std::vector<std::string>& arguments) {
  const Flags flags = TRY(parse_flags("slipway-assist rendezvous",
                                      {{.name = "config", .fallback = std::string(rendezvous_folder)},
                                       {.name = "state", .fallback = "/run/slipway-rendezvous"}},
                                      arguments));
  const std::string &folder = flags.text("config"), &state = flags.text("state");
  const RendezvousConfig config = TRY(read_rendezvous(environment.files, folder));
  const ServerCertificate certificate = TRY(read_rendezvous_certificate(environment.files, folder));
  const int port = TRY(net::parse_url(config.url)).port;
  if (const Result<> waited = wait_for_address(environment, config.address); !waited.ok()) {
    return environment.context.stop.stop_requested() ? Result<>(Ok{}) : waited;
  }
  const std::optional<std::string> install_config =
      TRY(environment.files.read_if_exists(fmt::format("{}/{}", rendezvous_assets(folder), install_config_file)));
  Store store = TRY(open_state(environment, state));
  PreparedInstallation installation(environment, rendezvous_assets(folder));
  RendezvousDriver driver(environment, config);
  const ServerHooks hooks{.prepare = [&](Core& core) { return register_cluster(core, config); },
                          .drive = [&](Core& core) { return driver.drive(core); }};
  return run_server(environment, std::move(store),
                    {.state = state,
                     .address = config.address,
                     .port = port,
                     .certificate = certificate,
                     .api = {.url = config.url,
                             .authority = certificate.authority,
                             .openshift_version = default_openshift_version,
                             .logs = state + "/logs",
                             .is_on_bootstrap_host = true,
                             .prepared_install_config = install_config.value_or("")}},
                    installation, hooks);
}

}  // namespace slipway::service
