// The objects of the API, made from records. Pure. Field names are those of the API of OpenShift's assisted-service.
#pragma once

#include "service/world.h"

#include <string>

namespace slipway::service {

inline constexpr std::string_view api_prefix = "/api/assisted-install/v2";

Json view_of(const InfraEnvRecord& record);
Json view_of(const ClusterRecord& record, const std::vector<std::shared_ptr<const HostRecord>>& hosts, bool with_hosts);

// cluster: null for a host in the pool. checked_in: when its agent was heard of last
Json view_of(const HostRecord& record, const ClusterRecord* cluster, WallTime checked_in);
Json view_of(const EventRecord& record);
Json view_of(const TokenRecord& record);

// Percent of the whole installation: preparing, installing, finalizing.
struct Progress {
  int total = 0, preparing = 0, installing = 0, finalizing = 0;
};
Progress progress_of(const ClusterRecord& record, const std::vector<std::shared_ptr<const HostRecord>>& hosts);

}  // namespace slipway::service
