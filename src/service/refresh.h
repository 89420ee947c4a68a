// Looks at clusters and hosts again after a change or when a limit has passed: validations, roles, groups, states. No I/O.
#pragma once

#include "service/world.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::service {

struct RefreshSettings {
  // When the agent of a host was heard of last. It is not written for every request.
  std::function<WallTime(const HostRecord& host)> contact{};
  bool stops_at_limits = false;
};

// Until nothing changes any more: a host's state may change that of its cluster, and the other way round.
void refresh_cluster(Edit& edit, const std::string& id, const RefreshSettings& settings);

// A host in the pool, by its key.
void refresh_host(Edit& edit, const std::string& key, const RefreshSettings& settings);

// When a limit of the cluster or of one of its hosts passes next; nullopt: never.
std::optional<WallTime> next_limit_of_cluster(const World& world, const std::string& id, WallTime now,
                                              const RefreshSettings& settings);
std::optional<WallTime> next_limit_of_host(const World& world, const std::string& key, WallTime now,
                                           const RefreshSettings& settings);

// What the rules need to look at a host, with the records that it points to.
struct HostLook {
  std::shared_ptr<const HostRecord> host;
  std::shared_ptr<const ClusterRecord> cluster;  // null: the host is in the pool
  std::vector<std::shared_ptr<const HostRecord>> hosts{};

  assist::HostScene scene(WallTime now) const;
};
HostLook look_at(const World& world, std::shared_ptr<const HostRecord> record);

// The event of a host, with its cluster and environment.
EventRecord event_of(const HostRecord& record, std::string name, EventSeverity severity, std::string message,
                     JsonObject props = {});
EventRecord event_of(const ClusterRecord& record, std::string name, EventSeverity severity, std::string message,
                     JsonObject props = {});

// What the host said of its hardware and its checks.
void forget_inventory(HostRecord& record);

// Puts the record with another state, and adds the event of that.
void set_status(Edit& edit, HostRecord record, const assist::HostChange& change);
void set_status(Edit& edit, ClusterRecord record, const assist::ClusterChange& change);

}  // namespace slipway::service
