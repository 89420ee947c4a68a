// Records for tests.
#pragma once

#include "assist/test_hosts.h"
#include "service/records.h"

#include <string>

namespace slipway::service {

inline ClusterRecord test_cluster_record(const std::string& id) {
  ClusterRecord record;
  record.settings = {{"base_dns_domain", "example.com"},
                     {"pull_secret", R"({"auths":{}})"},
                     {"control_plane_count", 3},
                     {"network_type", "OVNKubernetes"},
                     {"api_vips", JsonArray{Json{{"ip", "192.168.126.100"}}}},
                     {"ingress_vips", JsonArray{Json{{"ip", "192.168.126.101"}}}},
                     {"cluster_networks", JsonArray{Json{{"cidr", "10.128.0.0/14"}, {"host_prefix", 23}}}},
                     {"service_networks", JsonArray{Json{{"cidr", "172.30.0.0/16"}}}}};
  record.cluster.id = id;
  record.cluster.name = "demo";
  apply_settings(record.cluster, record.settings);
  record.created = record.updated = record.status_since = assist::test_now;
  return record;
}

inline HostRecord test_host_record(const std::string& id, const std::string& cluster = "") {
  HostRecord record;
  record.host = {.id = id, .infra_env = "e", .cluster = cluster};
  record.host.status = cluster.empty() ? assist::HostStatus::discovering_unbound : assist::HostStatus::discovering;
  record.created = record.updated = record.registered = record.host.checked_in = record.host.status_since = assist::test_now;
  return record;
}

}  // namespace slipway::service
