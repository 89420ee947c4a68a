#include "assist/validations.h"

#include "assist/groups.h"
#include "assist/test_hosts.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::assist {
namespace {

// Three hosts that reach each other.
struct Lab {
  Cluster cluster = test_cluster();
  std::vector<Host> hosts = {test_host("a"), test_host("b"), test_host("c")};

  Lab() {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      Host& host = hosts[i];
      host.inventory->interfaces[0].addresses = {net::parse_cidr(fmt::format("192.168.126.{}/24", 10 + i)).value()};
      host.checks.time_sources = std::vector<TimeSource>{{"192.168.126.1", "synced"}};
      host.checks.resolved = {{"api.demo.example.com", {"192.168.126.100"}},
                              {"api-int.demo.example.com", {"192.168.126.100"}},
                              {"console-openshift-console.apps.demo.example.com", {"192.168.126.101"}}};
      host.checks.address_is_free = {{"192.168.126.100", true}, {"192.168.126.101", true}};
      for (std::size_t other = 0; other < hosts.size(); ++other) {
        if (other == i) continue;
        host.checks.reach.push_back({.host = hosts[other].id,
                                     .address = fmt::format("192.168.126.{}", 10 + other),
                                     .by_link = true,
                                     .by_address = true,
                                     .latency_ms = 0.4});
      }
    }
  }

  std::vector<const Host*> all() const {
    std::vector<const Host*> found;
    for (const Host& host : hosts) found.push_back(&host);
    return found;
  }

  std::vector<Validation> of_host() const {
    HostScene scene{.host = hosts[0], .cluster = &cluster, .hosts = all(), .now = test_now};
    for (const net::Cidr& network : cluster.machine_networks) {
      scene.groups[net::to_string(network)] = majority_group(scene.hosts, network, true);
    }
    return validate_host(scene);
  }
  std::vector<Validation> of_cluster() const { return validate_cluster(cluster, all()); }
};

const Validation* find_in(const std::vector<Validation>& all, std::string_view id) {
  const auto found = std::ranges::find(all, id, &Validation::id);
  return found == all.end() ? nullptr : &*found;
}

struct Case {
  const char* id;
  std::function<void(Lab&)> change;
  Outcome outcome;
  const char* message;  // a part
};

void expect(const Case& each, const std::vector<Validation>& all) {
  const Validation* found = find_in(all, each.id);
  ASSERT_NE(found, nullptr) << each.id;
  EXPECT_EQ(to_string(found->outcome), to_string(each.outcome)) << each.id << ": " << found->message;
  EXPECT_NE(found->message.find(each.message), std::string::npos) << each.id << ": " << found->message;
}

Host& first(Lab& lab) { return lab.hosts[0]; }
Inventory& inventory(Lab& lab) { return *lab.hosts[0].inventory; }

const Case host_cases[] = {
    {"connected", [](Lab& lab) { first(lab).checked_in -= std::chrono::minutes(4); }, Outcome::failure, "has not answered since"},
    {"connected",
     [](Lab& lab) {
       first(lab).checked_in -= std::chrono::minutes(4);
       first(lab).is_bootstrap = true;
     },
     Outcome::success, ""},
    {"connected",
     [](Lab& lab) {
       first(lab).checked_in -= std::chrono::hours(4);
       first(lab).stage = Stage::rebooting;
     },
     Outcome::success, ""},
    {"media-connected", [](Lab& lab) { first(lab).has_medium = false; }, Outcome::failure, "attach it again"},
    {"has-inventory", [](Lab& lab) { first(lab).inventory.reset(); }, Outcome::pending, "has not sent"},
    {"has-min-cpu-cores", [](Lab& lab) { first(lab).inventory.reset(); }, Outcome::pending, "not known yet"},
    {"has-min-cpu-cores", [](Lab& lab) { inventory(lab).cpu_count = 1; }, Outcome::failure,
     "a node needs 2 processors, the host has 1"},
    {"has-min-memory",
     [](Lab& lab) { inventory(lab).memory_bytes = inventory(lab).usable_memory_bytes = std::uint64_t{4} << 30; },
     Outcome::failure, "needs 8192 MiB of memory, the host has 4096 MiB"},
    {"has-min-memory",
     [](Lab& lab) { inventory(lab).memory_bytes = inventory(lab).usable_memory_bytes = std::uint64_t{8100} << 20; },
     Outcome::success, ""},
    {"has-min-valid-disks", [](Lab& lab) { inventory(lab).disks.clear(); }, Outcome::failure, "it has none"},
    {"has-min-valid-disks", [](Lab& lab) { inventory(lab).disks[0].size_bytes = 10'000'000'000; }, Outcome::failure,
     "/dev/vda: it has 10 GB"},
    {"has-min-valid-disks", [](Lab& lab) { first(lab).chosen_disk = "gone"; }, Outcome::failure, "choose another one"},
    {"has-cpu-cores-for-role", [](Lab& lab) { inventory(lab).cpu_count = 2; }, Outcome::failure, "a master needs 4"},
    {"has-memory-for-role",
     [](Lab& lab) { inventory(lab).memory_bytes = inventory(lab).usable_memory_bytes = std::uint64_t{8} << 30; },
     Outcome::failure, "a master needs 16384 MiB"},
    {"hostname-unique", [](Lab& lab) { lab.hosts[1].requested_hostname = "host-a"; }, Outcome::failure, "change one of them"},
    {"hostname-valid", [](Lab& lab) { first(lab).requested_hostname = "localhost"; }, Outcome::failure, "'localhost' is no name"},
    {"hostname-valid", [](Lab& lab) { first(lab).requested_hostname = "Host_1"; }, Outcome::failure, "lower-case"},
    {"hostname-valid", [](Lab& lab) { first(lab).requested_hostname = "h-1.lab"; }, Outcome::success, ""},
    {"sufficient-installation-disk-speed",
     [](Lab& lab) {
       first(lab).checks.disk_latency_ms = {{"/dev/vda", 23.4}};
     },
     Outcome::failure, "takes 23.4 ms, etcd needs at most 10 ms"},
    {"sufficient-installation-disk-speed",
     [](Lab& lab) {
       first(lab).checks.disk_latency_ms = {{"/dev/vda", -1}};
     },
     Outcome::failure, "cannot be measured"},
    {"container-images-available",
     [](Lab& lab) {
       first(lab).checks.images = {{"a", true}, {"b", false}};
     },
     Outcome::failure, "cannot pull b: check the pull secret"},
    {"machine-cidr-defined", [](Lab& lab) { lab.cluster.machine_networks.clear(); }, Outcome::pending,
     "set the virtual addresses"},
    {"belongs-to-machine-cidr", [](Lab& lab) { lab.cluster.machine_networks = {net::parse_cidr("10.0.0.0/24").value()}; },
     Outcome::failure, "no address in 10.0.0.0/24"},
    {"belongs-to-majority-group", [](Lab& lab) { lab.hosts.pop_back(); }, Outcome::pending, "fewer than three"},
    {"belongs-to-majority-group",
     [](Lab& lab) {
       Host fourth = test_host("d");
       fourth.checks = lab.hosts[2].checks;
       for (std::size_t i : {1U, 2U}) lab.hosts[i].checks.reach.push_back({"d", "192.168.126.13", true, true});
       fourth.checks.reach = {{"b", "192.168.126.11", true, true}, {"c", "192.168.126.12", true, true}};
       first(lab).checks.reach.clear();
       lab.hosts.push_back(fourth);
     },
     Outcome::failure, "host-b, host-c, host-d do not reach each other in 192.168.126.0/24"},
    {"has-default-route", [](Lab& lab) { inventory(lab).routes.clear(); }, Outcome::failure, "add a gateway"},
    {"sufficient-network-latency-requirement-for-role", [](Lab& lab) { first(lab).checks.reach[1].latency_ms = 150; },
     Outcome::failure, "the latency to host-c is 150 ms, at most 100 ms"},
    {"sufficient-packet-loss-requirement-for-role", [](Lab& lab) { first(lab).checks.reach[0].loss_percent = 5; },
     Outcome::failure, "the packet loss to host-b is 5 %, at most 0 %"},
    {"sufficient-packet-loss-requirement-for-role",
     [](Lab& lab) {
       first(lab).checks.reach[0].loss_percent = 5;
       lab.hosts[1].role = Role::worker;
     },
     Outcome::success, ""},
    {"no-ip-collisions-in-network",
     [](Lab& lab) {
       first(lab).checks.macs_of = {{"192.168.126.11", {"aa", "bb"}}};
     },
     Outcome::failure, "192.168.126.11 is used by aa and bb"},
    {"non-overlapping-subnets",
     [](Lab& lab) {
       inventory(lab).interfaces.push_back(
           {.name = "ens4", .mac_address = "x", .addresses = {net::parse_cidr("192.168.126.77/25").value()}});
     },
     Outcome::failure, "use one of them"},
    {"ntp-synced",
     [](Lab& lab) {
       first(lab).checks.time_sources = std::vector<TimeSource>{{"a", "unreachable"}};
     },
     Outcome::failure, "add an NTP server"},
    {"ntp-synced", [](Lab& lab) { first(lab).checks.time_sources.reset(); }, Outcome::pending, ""},
    {"mtu-valid", [](Lab& lab) { first(lab).checks.reach[0].has_mtu = false; }, Outcome::failure, "192.168.126.11"},
    {"time-synced-between-host-and-service", [](Lab& lab) { first(lab).clock_offset = -std::chrono::hours(2); }, Outcome::failure,
     "2 h 0 min behind"},
    {"dns-wildcard-not-configured",
     [](Lab& lab) { (*first(lab).checks.resolved)["validateNoWildcardDNS.demo.example.com"] = {"1.2.3.4"}; }, Outcome::failure,
     "remove the wildcard record of demo.example.com"},
    {"api-domain-name-resolved-correctly",
     [](Lab& lab) {
       lab.cluster.manages_addresses = false;
       first(lab).checks.resolved->erase("api.demo.example.com");
     },
     Outcome::failure, "api.demo.example.com does not resolve"},
    {"api-int-domain-name-resolved-correctly",
     [](Lab& lab) {
       lab.cluster.manages_addresses = false;
       first(lab).checks.resolved->erase("api-int.demo.example.com");
     },
     Outcome::failure, "api-int.demo.example.com does not resolve"},
    {"apps-domain-name-resolved-correctly",
     [](Lab& lab) {
       lab.cluster.manages_addresses = false;
       first(lab).checks.resolved.reset();
     },
     Outcome::pending, "not been looked up"},
    {"ignition-downloadable", [](Lab& lab) { lab.cluster.is_day_two = true; }, Outcome::pending, "not asked"},
    {"ignition-downloadable",
     [](Lab& lab) {
       lab.cluster.is_day_two = true;
       first(lab).checks.can_get_ignition = false;
     },
     Outcome::failure, "port 22623"},
    {"has-default-route",
     [](Lab& lab) {
       inventory(lab).routes.clear();
       lab.cluster.ignored_validations = {"all"};
     },
     Outcome::disabled, "add a gateway"},
    {"hostname-valid",
     [](Lab& lab) {
       first(lab).requested_hostname = "localhost";
       lab.cluster.ignored_validations = {"hostname-valid"};
     },
     Outcome::failure, ""},
};

TEST(HostValidations, PassForAHealthyHost) {
  for (const Validation& each : Lab().of_host()) EXPECT_TRUE(each.passes()) << each.id << ": " << each.message;
}

TEST(HostValidations, SayWhatIsWrong) {
  for (const Case& each : host_cases) {
    Lab lab;
    each.change(lab);
    expect(each, lab.of_host());
  }
}

TEST(HostValidations, EachHasACase) {
  Lab lab;
  lab.cluster.manages_addresses = false;
  std::vector<Validation> all = lab.of_host();
  lab.cluster.is_day_two = true;
  for (const Validation& each : lab.of_host()) all.push_back(each);
  for (const Validation& each : all) {
    const bool has_case = std::ranges::any_of(host_cases, [&](const Case& tried) { return tried.id == each.id; });
    EXPECT_TRUE(has_case) << each.id;
  }
}

TEST(HostValidations, AHostMayJoinAClusterThatExistsAloneAndFromAnyNetwork) {
  Lab lab;
  lab.cluster.is_day_two = true;
  lab.cluster.machine_networks.clear();
  lab.cluster.base_domain.clear();
  first(lab).checks = {.can_get_ignition = true};
  const HostScene scene{.host = first(lab), .cluster = &lab.cluster, .hosts = {&first(lab)}, .now = test_now};
  for (const Validation& each : validate_host(scene)) EXPECT_TRUE(each.passes() || each.weight == Weight::warning) << each.id;
}

TEST(HostValidations, OfTheClusterDoNotApplyInThePool) {
  const Host host = test_host("a");
  const std::vector<Validation> found = validate_host({.host = host, .now = test_now});
  EXPECT_NE(find_in(found, "has-min-memory"), nullptr);
  EXPECT_EQ(find_in(found, "hostname-unique"), nullptr);
}

const Case cluster_cases[] = {
    {"machine-cidr-defined", [](Lab& lab) { lab.cluster.machine_networks.clear(); }, Outcome::pending,
     "set the machine networks"},
    {"cluster-cidr-defined", [](Lab& lab) { lab.cluster.cluster_networks.clear(); }, Outcome::pending,
     "set the cluster networks"},
    {"service-cidr-defined", [](Lab& lab) { lab.cluster.service_networks.clear(); }, Outcome::pending,
     "set the service networks"},
    {"dns-domain-defined", [](Lab& lab) { lab.cluster.base_domain.clear(); }, Outcome::pending, "set the base domain"},
    {"pull-secret-set", [](Lab& lab) { lab.cluster.has_pull_secret = false; }, Outcome::pending, "set the pull secret"},
    {"api-vips-defined", [](Lab& lab) { lab.cluster.api_addresses.clear(); }, Outcome::pending, "virtual addresses of the API"},
    {"ingress-vips-defined", [](Lab& lab) { lab.cluster.ingress_addresses.clear(); }, Outcome::pending, "of ingress"},
    {"ingress-vips-defined",
     [](Lab& lab) {
       lab.cluster.ingress_addresses.clear();
       lab.cluster.manages_addresses = false;
     },
     Outcome::success, ""},
    {"api-vips-valid", [](Lab& lab) { lab.cluster.api_addresses = {net::parse_ip("10.0.0.1").value()}; }, Outcome::failure,
     "10.0.0.1 is in no machine network"},
    {"api-vips-valid", [](Lab& lab) { lab.cluster.api_addresses = {net::parse_ip("192.168.126.255").value()}; }, Outcome::failure,
     "broadcast address"},
    {"api-vips-valid", [](Lab& lab) { lab.cluster.api_addresses = {net::parse_ip("192.168.126.0").value()}; }, Outcome::failure,
     "address of the network"},
    {"api-vips-valid", [](Lab& lab) { lab.hosts[1].checks.address_is_free["192.168.126.100"] = false; }, Outcome::failure,
     "used by another machine"},
    {"api-vips-valid", [](Lab& lab) { lab.cluster.api_addresses = {net::parse_ip("192.168.126.110").value()}; }, Outcome::pending,
     "no host has tried"},
    {"ingress-vips-valid", [](Lab& lab) { lab.cluster.ingress_addresses = lab.cluster.api_addresses; }, Outcome::failure,
     "cannot be an address of the API and of ingress"},
    {"no-cidrs-overlapping", [](Lab& lab) { lab.cluster.service_networks = {net::parse_cidr("10.130.0.0/16").value()}; },
     Outcome::failure, "cluster network 10.128.0.0/14 and service network 10.130.0.0/16 overlap"},
    {"networks-same-address-families",
     [](Lab& lab) { lab.cluster.service_networks.push_back(net::parse_cidr("fd02::/112").value()); }, Outcome::failure,
     "same IP families"},
    {"network-prefix-valid", [](Lab& lab) { lab.cluster.cluster_networks[0].host_prefix = 12; }, Outcome::failure,
     "between 14 and 29, is 12"},
    {"network-prefix-valid", [](Lab& lab) { lab.cluster.service_networks = {net::parse_cidr("172.30.0.0/26").value()}; },
     Outcome::failure, "fewer than 128 addresses"},
    {"network-type-valid", [](Lab& lab) { lab.cluster.network_type = "Calico"; }, Outcome::failure, "use OVNKubernetes"},
    {"ntp-server-configured", [](Lab& lab) { lab.hosts[2].clock_offset = std::chrono::minutes(5); }, Outcome::failure,
     "host-a and host-c differ by 5 min"},
    {"all-hosts-are-ready-to-install", [](Lab& lab) { lab.hosts[2].status = HostStatus::insufficient; }, Outcome::failure,
     "host-c is insufficient"},
    {"sufficient-masters-count", [](Lab& lab) { lab.cluster.control_plane_count = 1; }, Outcome::failure,
     "is installed on one host, and has 3: remove the others"},
    {"sufficient-masters-count",
     [](Lab& lab) {
       lab.cluster.control_plane_count = 1;
       lab.hosts.resize(1);
       lab.hosts[0].role = Role::worker;
     },
     Outcome::failure, "needs 1 master, 0 hosts have this role"},
    {"sufficient-masters-count", [](Lab& lab) { lab.hosts[2].role = Role::worker; }, Outcome::failure,
     "needs 3 masters, 2 hosts have this role"},
};

TEST(ClusterValidations, PassForAHealthyCluster) {
  for (const Validation& each : Lab().of_cluster()) EXPECT_TRUE(each.passes()) << each.id << ": " << each.message;
}

// A cluster of one host. Its virtual addresses are those of a user who had three hosts in mind.
Lab single_node() {
  Lab lab;
  lab.cluster.control_plane_count = 1;
  lab.hosts.resize(1);
  lab.hosts[0].checks.reach.clear();
  lab.hosts[0].checks.address_is_free.clear();
  return lab;
}

TEST(ClusterValidations, ASingleNodeNeedsNoVirtualAddresses) {
  Lab lab = single_node();
  for (const Validation& each : lab.of_cluster()) EXPECT_TRUE(each.passes()) << each.id << ": " << each.message;
  EXPECT_EQ(find_in(lab.of_cluster(), "api-vips-valid")->message,
            "the only node has the addresses; virtual addresses have no effect");
  lab.cluster.ingress_addresses = lab.cluster.api_addresses;
  EXPECT_TRUE(find_in(lab.of_cluster(), "ingress-vips-valid")->passes());
  lab.cluster.api_addresses.clear();
  lab.cluster.ingress_addresses.clear();
  for (const Validation& each : lab.of_cluster()) EXPECT_TRUE(each.passes()) << each.id << ": " << each.message;
  EXPECT_EQ(find_in(lab.of_cluster(), "api-vips-defined")->message, "the only node has the addresses");
}

TEST(HostValidations, ASingleNodeIsAloneAndItsNamesResolve) {
  Lab lab = single_node();
  for (const Validation& each : lab.of_host()) EXPECT_TRUE(each.passes()) << each.id << ": " << each.message;
  lab.hosts[0].checks.resolved->erase("api-int.demo.example.com");
  EXPECT_EQ(find_in(lab.of_host(), "api-int-domain-name-resolved-correctly")->outcome, Outcome::failure);
  lab.cluster.machine_networks.clear();
  EXPECT_EQ(find_in(lab.of_host(), "machine-cidr-defined")->message,
            "the machine networks are not known: set them in the cluster");
}

TEST(HostValidations, AWorkerThatIsAddedToASingleNodeIsAWorker) {
  Lab lab = single_node();
  lab.cluster.is_day_two = true;
  lab.hosts.push_back(test_host("w", Role::worker));
  std::swap(lab.hosts[0], lab.hosts[1]);
  lab.hosts[0].inventory->cpu_count = 2;
  EXPECT_TRUE(find_in(lab.of_host(), "has-cpu-cores-for-role")->passes());
  EXPECT_TRUE(find_in(lab.of_host(), "belongs-to-majority-group")->passes());
}

TEST(ClusterValidations, SayWhatIsWrong) {
  for (const Case& each : cluster_cases) {
    Lab lab;
    each.change(lab);
    expect(each, lab.of_cluster());
  }
}

TEST(ClusterValidations, EachHasACase) {
  for (const Validation& each : Lab().of_cluster()) {
    const bool has_case = std::ranges::any_of(cluster_cases, [&](const Case& tried) { return tried.id == each.id; });
    EXPECT_TRUE(has_case) << each.id;
  }
}

TEST(Validations, AreGroupedByCategory) {
  const Json value = to_json({{"a", "network", Weight::blocking, Outcome::failure, "x"}, {"b", "hardware"}, {"c", "network"}});
  EXPECT_EQ(emit_json(value, JsonStyle::compact),
            R"({"network":[{"id":"a","status":"failure","message":"x","weight":"blocking"},)"
            R"({"id":"c","status":"success","message":"","weight":"blocking"}],)"
            R"("hardware":[{"id":"b","status":"success","message":"","weight":"blocking"}]})");
}

}  // namespace
}  // namespace slipway::assist
