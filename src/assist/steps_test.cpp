#include "assist/steps.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::assist {
namespace {

using enum HostStatus;

struct Lab {
  Cluster cluster = test_cluster();
  std::vector<Host> hosts = {test_host("a"), test_host("b")};
  StepSettings settings{.release_image = "registry.example.com/release@sha256:1", .time_servers = "ntp.example.com, 10.0.0.1"};

  Steps steps(HostStatus status) {
    hosts[0].status = status;
    HostScene scene{.host = hosts[0], .cluster = hosts[0].cluster.empty() ? nullptr : &cluster, .now = test_now};
    for (const Host& each : hosts) scene.hosts.push_back(&each);
    return steps_of(scene, settings);
  }
  std::vector<std::string> types(HostStatus status) {
    std::vector<std::string> found;
    for (const Step& step : steps(status).steps) found.emplace_back(step.type);
    return found;
  }
  std::string argument(HostStatus status, std::string_view type) {
    const Steps all = steps(status);
    const auto found = std::ranges::find(all.steps, type, &Step::type);
    return found == all.steps.end() ? "no such step" : found->argument;
  }
};

using Types = std::vector<std::string>;

TEST(Steps, OfEachState) {
  const Types checks = {"inventory", "connectivity-check", "ntp-synchronizer", "domain-resolution", "verify-vips"};
  struct Case {
    HostStatus status;
    Types types;
    int next;
  };
  for (const Case& each :
       {Case{discovering, {"inventory"}, 60}, Case{disconnected, {"inventory"}, 120}, Case{known, checks, 60},
        Case{insufficient, checks, 60}, Case{pending_for_input, checks, 60},
        Case{preparing_for_installation, {"installation-disk-speed-check", "container-image-availability"}, 60},
        Case{preparing_successful, {}, 60}, Case{installing, {"install"}, 60}, Case{installing_in_progress, {}, 60},
        Case{error, {"logs-gather", "stop-installation"}, 120}, Case{cancelled, {"logs-gather", "stop-installation"}, 120},
        Case{installed, {}, 60}, Case{binding, {}, 0}, Case{unbinding, {}, 0}}) {
    Lab lab;
    EXPECT_EQ(lab.types(each.status), each.types) << to_string(each.status);
    EXPECT_EQ(lab.steps(each.status).next.count(), each.next) << to_string(each.status);
    EXPECT_EQ(lab.steps(each.status).exits, each.next == 0) << to_string(each.status);
  }
}

TEST(Steps, OfAHostInThePool) {
  Lab lab;
  lab.hosts[0].cluster.clear();
  EXPECT_EQ(lab.types(known_unbound), (Types{"inventory", "ntp-synchronizer"}));
}

TEST(Steps, OfAHostThatIsAddedLater) {
  Lab lab;
  lab.cluster.is_day_two = true;
  const Types types = lab.types(known);
  EXPECT_NE(std::ranges::find(types, "api-vip-connectivity-check"), types.end());
  EXPECT_EQ(std::ranges::find(types, "verify-vips"), types.end());
  EXPECT_EQ(lab.argument(known, "api-vip-connectivity-check"), R"({"url":"https://192.168.126.100:22623/config/worker"})");
  lab.cluster.ignition_url = "https://api.example.org:22623/config/worker";
  lab.cluster.ignition_authority = "PEM";
  EXPECT_EQ(lab.argument(known, "api-vip-connectivity-check"),
            R"({"url":"https://api.example.org:22623/config/worker","ca_certificate":"PEM"})");
}

TEST(Steps, HaveTheirArguments) {
  Lab lab;
  EXPECT_EQ(lab.argument(known, "inventory"), "");
  EXPECT_EQ(lab.argument(known, "connectivity-check"),
            R"([{"host_id":"b","nics":[{"name":"ens3","mac":"52:54:00:00:00:01","ip_addresses":["192.168.126.10"]}]}])");
  EXPECT_EQ(lab.argument(known, "ntp-synchronizer"), R"({"ntp_source":"ntp.example.com,10.0.0.1"})");
  EXPECT_NE(lab.argument(known, "domain-resolution").find("validateNoWildcardDNS.demo.example.com"), std::string::npos);
  EXPECT_EQ(lab.argument(known, "verify-vips"),
            R"([{"vip":"192.168.126.100","vip_type":"api"},{"vip":"192.168.126.101","vip_type":"ingress"}])");
  EXPECT_EQ(lab.argument(preparing_for_installation, "installation-disk-speed-check"), R"({"path":"/dev/vda"})");
  EXPECT_NE(lab.argument(preparing_for_installation, "container-image-availability").find("sha256:1"), std::string::npos);
  const std::string install = lab.argument(installing, "install");
  for (const char* part :
       {R"("role":"master")", R"("boot_device":"/dev/disk/by-id/wwn-0x1")", R"("cluster_id":"c")", R"("host_id":"a")"}) {
    EXPECT_NE(install.find(part), std::string::npos) << install;
  }
  lab.hosts[0].is_bootstrap = true;
  EXPECT_NE(lab.argument(installing, "install").find(R"("role":"bootstrap")"), std::string::npos);
}

TEST(Steps, OnlyTheHostOfTheServiceWaitsForTheOthers) {
  Lab lab;
  const auto waits = [&] {
    return lab.argument(installing, "install").find(R"("wait_for_hosts":true)") != std::string::npos;
  };
  lab.hosts[0].is_bootstrap = true;
  EXPECT_FALSE(waits());
  lab.settings.is_on_bootstrap_host = true;
  EXPECT_TRUE(waits());
  lab.hosts[0].is_bootstrap = false;
  EXPECT_FALSE(waits());
}

TEST(Steps, OfASingleNode) {
  Lab lab;
  lab.cluster.control_plane_count = 1;
  lab.hosts.resize(1);
  lab.settings.is_on_bootstrap_host = true;
  EXPECT_EQ(lab.types(known), (Types{"inventory", "ntp-synchronizer", "domain-resolution"})) << "no virtual addresses";
  const std::string install = lab.argument(installing, "install");
  EXPECT_NE(install.find(R"("role":"bootstrap")"), std::string::npos) << install;
  EXPECT_NE(install.find(R"("control_plane_count":1)"), std::string::npos) << install;
  EXPECT_EQ(install.find("wait_for_hosts"), std::string::npos) << "there are no others: " << install;
}

TEST(Steps, AreNotRepeatedWhenTheirResultStays) {
  Lab lab;
  lab.hosts[0].checks.disk_latency_ms["/dev/vda"] = 3;
  lab.hosts[0].checks.images = std::map<std::string, bool>{};
  EXPECT_EQ(lab.types(preparing_for_installation), Types{});
}

TEST(Steps, KeepTheirIdsWhileNothingChanges) {
  Lab lab;
  const Steps first = lab.steps(known);
  EXPECT_EQ(lab.steps(known), first);
  lab.cluster.api_addresses = {net::parse_ip("192.168.126.77").value()};
  const Steps second = lab.steps(known);
  EXPECT_EQ(second.steps.front(), first.steps.front());
  EXPECT_NE(second.steps.back().id, first.steps.back().id);
}

}  // namespace
}  // namespace slipway::assist
