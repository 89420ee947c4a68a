// Hosts and clusters for tests.
#pragma once

#include "assist/model.h"

#include <string>

namespace slipway::assist {

inline const WallTime test_now = WallTime(Milliseconds(1'800'000'000'000));

inline Inventory test_inventory(const std::string& name, const std::string& address = "192.168.126.10/24") {
  Inventory inventory{.hostname = name,
                      .cpu_count = 4,
                      .cpu_architecture = "x86_64",
                      .memory_bytes = std::uint64_t{16} << 30,
                      .usable_memory_bytes = std::uint64_t{16} << 30,
                      .boot_mode = "uefi"};
  inventory.interfaces.push_back(
      {.name = "ens3", .mac_address = "52:54:00:00:00:01", .has_carrier = true, .addresses = {net::parse_cidr(address).value()}});
  inventory.disks.push_back(
      {.id = "/dev/disk/by-id/wwn-0x1", .name = "vda", .path = "/dev/vda", .drive_type = "SSD", .size_bytes = 120'000'000'000});
  inventory.routes.push_back({.interface = "ens3", .gateway = "192.168.126.1", .destination = "0.0.0.0"});
  return inventory;
}

inline Host test_host(const std::string& id, Role role = Role::master) {
  Host host{.id = id, .infra_env = "e", .cluster = "c", .status = HostStatus::known, .role = role};
  host.status_since = host.checked_in = test_now;
  host.inventory = test_inventory("host-" + id);
  return host;
}

inline Cluster test_cluster() {
  Cluster cluster{.id = "c", .name = "demo", .base_domain = "example.com"};
  cluster.machine_networks = {net::parse_cidr("192.168.126.0/24").value()};
  cluster.cluster_networks = {{net::parse_cidr("10.128.0.0/14").value(), 23}};
  cluster.service_networks = {net::parse_cidr("172.30.0.0/16").value()};
  cluster.api_addresses = {net::parse_ip("192.168.126.100").value()};
  cluster.ingress_addresses = {net::parse_ip("192.168.126.101").value()};
  cluster.has_pull_secret = true;
  return cluster;
}

}  // namespace slipway::assist
