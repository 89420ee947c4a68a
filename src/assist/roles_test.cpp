#include "assist/roles.h"

#include "assist/requirements.h"
#include "assist/test_hosts.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

std::vector<const Host*> pointers(const std::vector<Host>& hosts) {
  std::vector<const Host*> all;
  for (const Host& host : hosts) all.push_back(&host);
  return all;
}

Host sized(const std::string& id, int cpus, int memory_gib, int disk_gb) {
  Host host = test_host(id, Role::auto_assign);
  host.inventory->cpu_count = cpus;
  host.inventory->memory_bytes = std::uint64_t(memory_gib) << 30;
  host.inventory->usable_memory_bytes = 0;
  host.inventory->disks[0].size_bytes = std::uint64_t(disk_gb) * 1'000'000'000;
  return host;
}

TEST(Roles, SmallHostsBecomeMasters) {
  std::vector<Host> hosts = {sized("a", 64, 512, 4000), sized("b", 4, 16, 120), sized("c", 2, 8, 120),
                             sized("d", 8, 32, 200),    sized("e", 4, 16, 100), sized("f", 4, 16, 100)};
  hosts[5].inventory->gpus = {"GA100"};
  hosts.push_back({.id = "g", .infra_env = "e"});  // without inventory
  const std::map<std::string, Role> roles = suggest_roles(test_cluster(), pointers(hosts));
  EXPECT_EQ(roles, (std::map<std::string, Role>{{"a", Role::worker},
                                                {"b", Role::master},
                                                {"c", Role::worker},
                                                {"d", Role::master},
                                                {"e", Role::master},
                                                {"f", Role::worker}}));
}

TEST(Roles, OfUsersStay) {
  std::vector<Host> hosts = {sized("a", 4, 16, 120), sized("b", 4, 16, 120), sized("c", 8, 32, 120), sized("d", 64, 512, 120)};
  hosts[0].role = Role::worker;
  hosts[3].role = Role::master;
  const std::map<std::string, Role> roles = suggest_roles(test_cluster(), pointers(hosts));
  EXPECT_EQ(roles.at("a"), Role::worker);
  EXPECT_EQ(roles.at("b"), Role::master);
  EXPECT_EQ(roles.at("c"), Role::master);
  EXPECT_EQ(roles.at("d"), Role::master);
}

TEST(Roles, RequirementsThatAreIgnoredDoNotCount) {
  std::vector<Host> hosts = {sized("a", 2, 16, 120), sized("b", 4, 8, 120)};
  Cluster cluster = test_cluster();
  EXPECT_EQ(suggest_roles(cluster, pointers(hosts)), (std::map<std::string, Role>{{"a", Role::worker}, {"b", Role::worker}}));
  cluster.ignored_validations = {"has-cpu-cores-for-role"};
  EXPECT_EQ(suggest_roles(cluster, pointers(hosts)), (std::map<std::string, Role>{{"a", Role::master}, {"b", Role::worker}}));
  cluster.ignored_validations = {"has-memory-for-role"};
  EXPECT_EQ(suggest_roles(cluster, pointers(hosts)), (std::map<std::string, Role>{{"a", Role::worker}, {"b", Role::master}}));
}

TEST(Roles, OfHostsThatAreAddedLaterAreWorkers) {
  Cluster cluster = test_cluster();
  cluster.is_day_two = true;
  const std::vector<Host> hosts = {sized("a", 4, 16, 120)};
  EXPECT_EQ(suggest_roles(cluster, pointers(hosts)).at("a"), Role::worker);
}

TEST(Roles, OneMasterCarriesTheBootstrap) {
  std::vector<Host> hosts = {test_host("b"), test_host("a"), test_host("c", Role::worker)};
  EXPECT_EQ(choose_bootstrap(pointers(hosts)), "b");
  hosts[1].is_bootstrap = true;
  EXPECT_EQ(choose_bootstrap(pointers(hosts)), "a");
  EXPECT_EQ(choose_bootstrap({}), "");
}

TEST(InstallationDisk, IsTheSmallestOfThoseThatFit) {
  Host host = test_host("a");
  const Requirements needed = requirements_of(Role::master, false);
  const auto disk = [](const char* name, const char* type, int gb) {
    return Disk{.id = name,
                .name = name,
                .path = std::string("/dev/") + name,
                .drive_type = type,
                .size_bytes = std::uint64_t(gb) * 1'000'000'000};
  };
  host.inventory->disks = {disk("nvme0n1", "SSD", 100), disk("sdb", "SSD", 500), disk("sda", "SSD", 120),
                           disk("sdc", "HDD", 800),     disk("sdd", "SSD", 99),  disk("sr0", "ODD", 900)};
  EXPECT_EQ(installation_disk(host, needed)->name, "sdc");
  host.inventory->disks[1].bootable = true;
  EXPECT_EQ(installation_disk(host, needed)->name, "sdb");
  host.chosen_disk = "nvme0n1";
  EXPECT_EQ(installation_disk(host, needed)->name, "nvme0n1");
  host.chosen_disk = "sdd";
  EXPECT_EQ(installation_disk(host, needed), nullptr);
  EXPECT_EQ(reasons_against(host.inventory->disks[4], needed),
            std::vector<std::string>{"it has 99 GB, the installation needs 100 GB"});
  EXPECT_EQ(reasons_against(host.inventory->disks[5], needed),
            std::vector<std::string>{"disks of type ODD cannot be installed on"});
}

}  // namespace
}  // namespace slipway::assist
