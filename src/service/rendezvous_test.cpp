#include "service/rendezvous.h"

#include "service/test_records.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

using assist::Role;
using Hosts = std::vector<std::shared_ptr<const HostRecord>>;

std::shared_ptr<const HostRecord> host(int number, Role role = Role::auto_assign) {
  HostRecord record = test_host_record(std::to_string(number), "c");
  record.host.inventory = assist::test_inventory(fmt::format("host-{}", number), fmt::format("192.168.126.{}/24", 10 + number));
  record.host.inventory->interfaces.front().mac_address = fmt::format("52:54:00:00:00:{:02x}", number);
  record.host.role = role;
  record.host.is_bootstrap = number == 1 && role == Role::master;  // it has the address, and its settings
  return std::make_shared<const HostRecord>(std::move(record));
}

class Rendezvous : public testing::Test {
 protected:
  Rendezvous() { cluster.cluster.status = assist::ClusterStatus::ready; }

  RendezvousPlan plan(const Hosts& hosts) { return plan_rendezvous(config, cluster, hosts); }

  RendezvousConfig config{.address = "192.168.126.11", .url = "https://192.168.126.11:8090", .expected_hosts = 3};
  ClusterRecord cluster = test_cluster_record("c");
};

TEST_F(Rendezvous, TheInstallationStartsWhenAllHostsAreThere) {
  const Hosts hosts = {host(0), host(1, Role::master), host(2)};
  EXPECT_EQ(plan(hosts).waits_for, "");
  EXPECT_TRUE(plan(hosts).settings.empty());
  EXPECT_EQ(plan({hosts[1], hosts[2]}).waits_for, "2 of 3 hosts have registered");
  EXPECT_EQ(plan({hosts[0], hosts[1], hosts[2], host(3)}).waits_for, "4 hosts have registered, but the cluster has 3");
  EXPECT_EQ(plan({hosts[0], hosts[2], host(3)}).waits_for, "no host with the rendezvousIP 192.168.126.11 has registered");
  cluster.cluster.status = assist::ClusterStatus::insufficient;
  cluster.status_info = "a clock is wrong";
  EXPECT_EQ(plan(hosts).waits_for, "the cluster is insufficient: a clock is wrong");
}

TEST_F(Rendezvous, TheHostWithTheAddressBecomesAMaster) {
  const RendezvousPlan made = plan({host(0), host(1), host(2)});
  EXPECT_EQ(made.settings, (std::vector<HostSetting>{{.key = "e/1", .role = Role::master, .is_bootstrap = true}}));
  EXPECT_EQ(made.waits_for, "hosts get their settings");
}

TEST_F(Rendezvous, HostsGetWhatTheConfigSays) {
  config.hosts = {{.hostname = "w0",
                   .role = Role::worker,
                   .mac_addresses = {"52:54:00:00:00:00"},
                   .disk_hints = {{"deviceName", "/dev/vda"}}},
                  {.hostname = "m0", .mac_addresses = {"00:00:00:00:00:02", "52:54:00:00:00:01"}}};
  EXPECT_EQ(plan({host(0), host(1), host(2)}).settings,
            (std::vector<HostSetting>{
                {.key = "e/0", .role = Role::worker, .hostname = "w0", .disk = "/dev/disk/by-id/wwn-0x1"},
                {.key = "e/1", .role = Role::master, .hostname = "m0", .is_bootstrap = true},
            }));
}

TEST_F(Rendezvous, ASingleNodeIsTheHostWithTheAddress) {
  config.expected_hosts = 1;
  cluster.cluster.control_plane_count = 1;
  EXPECT_EQ(plan({host(1, Role::master)}).waits_for, "");
  EXPECT_EQ(plan({host(1, Role::master), host(2)}).waits_for, "2 hosts have registered, but the cluster has 1");
}

TEST_F(Rendezvous, SaysWhyItCannotStart) {
  const Hosts hosts = {host(0), host(1, Role::master), host(2)};
  config.hosts = {{.hostname = "m7", .mac_addresses = {"52:54:00:00:00:07"}}};
  EXPECT_EQ(plan(hosts).waits_for, "host m7 has not reported its hardware");
  config.hosts = {{.mac_addresses = {"52:54:00:00:00:02"}, .disk_hints = {{"serialNumber", "x"}}}};
  EXPECT_EQ(plan(hosts).waits_for, "host 52:54:00:00:00:02 has no disk that matches its rootDeviceHints");
  config.hosts = {{.role = Role::worker, .mac_addresses = {"52:54:00:00:00:01"}}};
  EXPECT_NE(plan(hosts).waits_for.find("has role worker in agent-config.yaml, and must be a master"), std::string::npos);
}

TEST_F(Rendezvous, AHostWithoutInventoryIsNotChanged) {
  const Hosts hosts = {std::make_shared<const HostRecord>(test_host_record("0", "c")), host(1, Role::master), host(2)};
  config.hosts = {{.hostname = "m0", .mac_addresses = {"52:54:00:00:00:00"}}};
  EXPECT_TRUE(plan(hosts).settings.empty());
  EXPECT_EQ(plan(hosts).waits_for, "host m0 has not reported its hardware");
}

}  // namespace
}  // namespace slipway::service
