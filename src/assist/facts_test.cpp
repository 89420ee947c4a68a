#include "assist/facts.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

using std::chrono::minutes;

struct Lab {
  Cluster cluster = test_cluster();
  std::vector<Host> hosts;

  Lab(int masters, int workers, HostStatus status) {
    for (int i = 0; i < masters + workers; ++i) {
      hosts.push_back(test_host(std::to_string(i), i < masters ? Role::master : Role::worker));
      hosts.back().status = status;
    }
  }
  std::vector<const Host*> all() const {
    std::vector<const Host*> found;
    for (const Host& host : hosts) found.push_back(&host);
    return found;
  }
  ClusterFacts facts(const InstallationReports& reports = {}) const {
    return cluster_facts(cluster, all(), {}, reports, test_now, false);
  }
  HostFacts of_first() const {
    const HostScene scene{.host = hosts[0], .cluster = &cluster, .hosts = all(), .now = test_now};
    return host_facts(scene, validate_host(scene), false);
  }
};

TEST(Facts, EnoughHostsAreAllMastersAndTwoWorkers) {
  struct Case {
    int masters, workers, failed_masters, failed_workers;
    bool is_enough;
  };
  for (const Case& each : {Case{3, 0, 0, 0, true}, Case{3, 1, 0, 1, true}, Case{3, 3, 0, 1, true}, Case{3, 3, 0, 2, false},
                           Case{3, 2, 1, 0, false}, Case{2, 2, 0, 0, false}}) {
    Lab lab(each.masters, each.workers, HostStatus::installed);
    for (int i = 0; i < each.failed_masters; ++i) lab.hosts[static_cast<std::size_t>(i)].status = HostStatus::error;
    for (int i = 0; i < each.failed_workers; ++i)
      lab.hosts[static_cast<std::size_t>(each.masters + i)].status = HostStatus::error;
    EXPECT_EQ(lab.facts().enough_are_installed, each.is_enough) << each.workers << " " << each.failed_workers;
    EXPECT_EQ(lab.facts().enough_can_succeed, each.is_enough);
    EXPECT_TRUE(lab.facts().all_hosts_ended);
  }
}

TEST(Facts, OfThePreparation) {
  Lab lab(3, 0, HostStatus::preparing_successful);
  EXPECT_TRUE(lab.facts().hosts_are_prepared);
  lab.hosts[0].status = HostStatus::preparing_for_installation;
  EXPECT_FALSE(lab.facts().hosts_are_prepared);
  EXPECT_FALSE(lab.facts().host_left);
  lab.hosts[0].status = HostStatus::disconnected;
  EXPECT_TRUE(lab.facts().host_left);
  lab.hosts[0].status = HostStatus::preparing_failed;
  EXPECT_TRUE(lab.facts().host_failed);
  EXPECT_FALSE(lab.facts().host_left);
  EXPECT_FALSE(lab.facts({.preparation_began = test_now - minutes(9)}).preparation_overdue);
  EXPECT_TRUE(lab.facts({.preparation_began = test_now - minutes(11)}).preparation_overdue);
}

TEST(Facts, OfAHost) {
  Lab lab(3, 1, HostStatus::installing_in_progress);
  lab.hosts[0].stage = Stage::writing_image_to_disk;
  lab.hosts[0].stage_since = test_now - minutes(29);
  EXPECT_FALSE(lab.of_first().stage_overdue);
  lab.hosts[0].stage_since = test_now - minutes(31);
  EXPECT_TRUE(lab.of_first().stage_overdue);
  EXPECT_FALSE(lab.of_first().cluster_can_do_without) << "all masters are needed";

  EXPECT_EQ(lab.of_first().disk_speed, Check::unknown);
  lab.hosts[0].checks.disk_latency_ms = {{"/dev/vda", 3}};
  EXPECT_EQ(lab.of_first().disk_speed, Check::passed);
  lab.hosts[0].checks.disk_latency_ms = {{"/dev/vda", -1}};
  EXPECT_EQ(lab.of_first().disk_speed, Check::failed);
  lab.cluster.ignored_validations = {"sufficient-installation-disk-speed"};
  EXPECT_EQ(lab.of_first().disk_speed, Check::passed);
  lab.hosts[0].checks.images = std::map<std::string, bool>{{"a", true}, {"b", false}};
  EXPECT_EQ(lab.of_first().images, Check::failed);

  EXPECT_TRUE(lab.of_first().is_connected);
  lab.hosts[0].checked_in -= minutes(4);
  EXPECT_FALSE(lab.of_first().is_connected);
}

TEST(Facts, TheNextLimitIsTheEarliest) {
  Lab lab(3, 0, HostStatus::known);
  const auto next = [&] { return next_limit({.host = lab.hosts[0], .cluster = &lab.cluster, .now = test_now}); };
  EXPECT_EQ(next(), test_now + minutes(3) + Milliseconds(1));  // without contact
  lab.hosts[0].status = HostStatus::preparing_for_installation;
  lab.hosts[0].status_since = test_now - minutes(7);
  EXPECT_EQ(next(), test_now + minutes(1) + Milliseconds(1));
  lab.hosts[0].status = HostStatus::installing_in_progress;
  lab.hosts[0].stage = Stage::rebooting;
  lab.hosts[0].stage_since = test_now - minutes(39);
  EXPECT_EQ(next(), test_now + minutes(1) + Milliseconds(1));
  lab.hosts[0].stage_since = test_now - minutes(50);
  lab.hosts[0].checked_in = test_now - minutes(50);
  EXPECT_EQ(next(), std::nullopt);

  EXPECT_EQ(next_limit(lab.cluster, {}, test_now), std::nullopt);
  lab.cluster.status = ClusterStatus::preparing_for_installation;
  EXPECT_EQ(next_limit(lab.cluster, {.preparation_began = test_now}, test_now), test_now + minutes(10) + Milliseconds(1));
  EXPECT_EQ(next_limit(lab.cluster, {.preparation_began = test_now - minutes(11)}, test_now), std::nullopt);
}

TEST(Facts, PlacementsOfHosts) {
  Lab lab(3, 1, HostStatus::known);
  lab.hosts[1].is_bootstrap = true;
  EXPECT_EQ(placement_of(lab.hosts[0], lab.cluster), Placement::master);
  EXPECT_EQ(placement_of(lab.hosts[1], lab.cluster), Placement::bootstrap);
  EXPECT_EQ(placement_of(lab.hosts[3], lab.cluster), Placement::worker);
  lab.cluster.control_plane_count = 1;
  EXPECT_EQ(placement_of(lab.hosts[0], lab.cluster), Placement::single_node);
  lab.cluster.is_day_two = true;
  EXPECT_EQ(placement_of(lab.hosts[3], lab.cluster), Placement::worker);
  EXPECT_EQ(placement_of(lab.hosts[1], lab.cluster), Placement::master);
}

}  // namespace
}  // namespace slipway::assist
