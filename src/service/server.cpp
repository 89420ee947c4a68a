#include "service/server.h"

#include "net/ip.h"

#include <fmt/core.h>

#include <memory>
#include <set>
#include <utility>

namespace slipway::service {

namespace {

constexpr std::size_t most_hosts_looked_at_together = 64;
constexpr Milliseconds longest_sleep = std::chrono::hours(1);

// The hosts whose instructions may be different after the changes: those that changed, and in small clusters their peers.
std::set<std::string> affected_hosts(const World& world, const std::set<std::pair<Kind, std::string>>& changed) {
  std::set<std::string> hosts, clusters;
  for (const auto& [kind, key] : changed) {
    if (kind == Kind::cluster) clusters.insert(key);
    if (kind != Kind::host) continue;
    hosts.insert(key);
    if (const auto record = look_up(world.hosts, key); record && !record->host.cluster.empty())
      clusters.insert(record->host.cluster);
  }
  for (const std::string& cluster : clusters) {
    const auto peers = world.hosts_of_cluster(cluster);
    if (peers.size() > most_hosts_looked_at_together) continue;
    for (const auto& each : peers) hosts.insert(each->table_key());
  }
  return hosts;
}

std::optional<Owners> owners_of(const World& world, Kind kind, const std::string& key) {
  if (kind == Kind::cluster) return Owners{.cluster = key};
  if (kind == Kind::host) {
    const auto record = look_up(world.hosts, key);
    if (record) return Owners{.cluster = record->host.cluster, .infra_env = record->host.infra_env, .host = record->host.id};
  }
  if (kind == Kind::infra_env) {
    const auto record = look_up(world.infra_envs, key);
    if (record) return Owners{.cluster = record->cluster, .infra_env = key};
  }
  return std::nullopt;
}

}  // namespace

Result<Store> open_state(const net::Environment& environment, const std::string& folder) {
  TRY(environment.files.make_directories(folder, 0700));
  return Store::open(folder + "/assist.db");
}

Result<> run_server(const net::Environment& environment, Store store, ServerSettings settings, Installation& installation,
                    const ServerHooks& hooks) {
  Feed feed(environment.context);
  sys::Wakeup changes;
  const std::unique_ptr<Core> core =
      TRY(Core::start(environment.context, std::move(store), installation, {.stops_at_limits = settings.stops_at_limits},
                      {.on_events = [&](const std::vector<EventRecord>& events) { feed.take_events(events); },
                       .on_changes =
                           [&](const std::set<std::pair<Kind, std::string>>& changed) {
                             feed.take_changes(changed);
                             changes.notify();
                           }}));
  if (hooks.prepare) TRY(hooks.prepare(*core));

  Api api(environment, *core, feed, std::move(settings.api));
  std::optional<BaseImage::Content> image;
  if (!api.options.live_image.empty()) image = TRY(api.base_image.content());
  if (const std::string missing = missing_of_image(image ? &image->image : nullptr); !missing.empty() && settings.gives_images)
    environment.context.log.warn("{}", missing);
  feed.set_steps([&](const std::string& key) { return api.steps_of(key); });
  feed.set_peers([&](const std::set<std::pair<Kind, std::string>>& changed) {
    return core->look([&](const World& world) { return affected_hosts(world, changed); });
  });
  feed.set_tokens([&](const std::string& id) {
    return core->look([&](const World& world) -> std::optional<WallTime> {
      const auto token = look_up(world.tokens, id);
      return token ? std::optional(token->expires) : std::nullopt;
    });
  });
  feed.set_owners([&](Kind kind, const std::string& key) {
    return core->look([&](const World& world) { return owners_of(world, kind, key); });
  });

  net::ServerOptions options{.address = settings.address,
                             .port = settings.port,
                             .connections = 6000,
                             .idle_limit = Seconds(75),
                             .exchange_limit = Seconds(120)};
  options.body_limit_of = [&](const net::ServerRequest& head) { return api.body_limit(head); };
  if (settings.certificate) options.tls = settings.certificate->tls;
  const net::HttpServer server =
      TRY(net::HttpServer::listen(options, [&](const net::ServerRequest& request) { return api.answer(request); }));
  const std::string listens = fmt::format("{}://{}", settings.certificate ? "https" : "http",
                                          net::host_and_port(settings.address, server.port()));
  TRY(environment.files.write(settings.state + "/url", listens + "\n", 0644));
  environment.print(fmt::format("listening on {}\n", listens));
  sys::Clock& clock = environment.context.clock;
  while (!environment.context.stop.stop_requested()) {
    const std::uint64_t seen = changes.count();
    const Milliseconds pause = hooks.drive ? hooks.drive(*core) : longest_sleep;
    clock.wait(clock.steady() + pause, environment.context.stop, hooks.drive ? &changes : nullptr, seen);
  }
  feed.stop();
  return Ok{};
}

}  // namespace slipway::service
