#include "components/cluster_bootstrap/leave_control.h"

#include "base/guarded.h"
#include "base/yaml.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::components::cluster_bootstrap {
namespace {

using testing_support::FakeKube;
using testing_support::MemoryFiles;
using testing_support::RealTimeContext;
using testing_support::TestContext;

const net::IpAddress api_vip = net::parse_ip("10.97.77.5").value();

Json lease(std::string_view space, std::string_view name, std::string_view holder) {
  return {{"apiVersion", "coordination.k8s.io/v1"},
          {"kind", "Lease"},
          {"metadata", {{"name", name}, {"namespace", space}}},
          {"spec", {{"holderIdentity", holder}}}};
}

TEST(HeldHere, IsByTheNameOfTheMachine) {
  struct Case {
    const char* name;
    const char* holder;
    const char* host;
    bool held;
  };
  const Case cases[] = {
      {"kube-scheduler", "bootstrap_1", "bootstrap", true},
      {"kube-scheduler", "bootstrap", "bootstrap", true},
      {"kube-scheduler", "bootstrap.demo.example.com_1", "bootstrap", true},
      {"kube-scheduler", "bootstrap_1", "bootstrap.demo.example.com", true},
      {"kube-controller-manager", "bootstrap_1", "ip-10-0-0-1", true},
      {"cluster-policy-controller-lock", "ip-10-0-0-1_1", "ip-10-0-0-1", true},
      {"kube-scheduler", "ip-10-0-0-12_1", "ip-10-0-0-1", false},
      {"kube-scheduler", "master-0_1", "bootstrap", false},
      {"kube-scheduler", "", "bootstrap", false},
      {"kube-scheduler", "", "", false},
      {"somebody-elses", "bootstrap_1", "bootstrap", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(held_here({lease("kube-system", each.name, each.holder)}, "kube-system", each.host).has_value(), each.held)
        << each.name << " " << each.holder << " " << each.host;
  }
  EXPECT_EQ(held_here({lease("openshift-cluster-version", "version", "bootstrap_1")}, "openshift-cluster-version", "bootstrap"),
            "Lease openshift-cluster-version/version is held by bootstrap_1");
  EXPECT_FALSE(held_here({lease("kube-system", "version", "bootstrap_1")}, "kube-system", "bootstrap"));
}

TEST(WasLeft, IsWhatASilentHolderOfThisMachineStillHas) {
  const WallTime now = parse_rfc3339("2026-11-22T10:00:10Z").value();
  struct Case {
    const char* name;
    const char* holder;
    const char* renewed;
    bool left;
  };
  const Case cases[] = {
      {"kube-scheduler", "bootstrap_1", "2026-11-22T10:00:06.900000Z", true},
      {"kube-controller-manager", "bootstrap_1", "2026-11-22T10:00:00.000000Z", true},
      {"kube-scheduler", "bootstrap_1", "2026-11-22T10:00:07.100000Z", false},
      {"kube-scheduler", "master-0_1", "2026-11-22T10:00:00.000000Z", false},
      {"kube-scheduler", "", "2026-11-22T10:00:00.000000Z", false},
      {"cluster-policy-controller-lock", "bootstrap_1", "2026-11-22T10:00:00.000000Z", false},
      {"cluster-policy-controller-lock", "bootstrap_1", "2026-11-22T09:59:56.000000Z", true},
      {"somebody-elses", "bootstrap_1", "2026-11-22T10:00:00.000000Z", false},
      {"kube-scheduler", "bootstrap_1", "", false},
  };
  for (const Case& each : cases) {
    Json object = lease("kube-system", each.name, each.holder);
    object.as_object()["spec"].as_object()["renewTime"] = each.renewed;
    EXPECT_EQ(is_abandoned(object, "kube-system", "bootstrap", now), each.left)
        << each.name << " " << each.holder << " " << each.renewed;
  }
}

TEST(AddressHere, IsAnyOfThem) {
  const std::vector<HostAddress> addresses = {{.address = net::parse_ip("10.97.77.9").value(), .interface = "eth0"},
                                              {.address = api_vip, .interface = "eth1"}};
  EXPECT_EQ(address_here(addresses, {api_vip}), "10.97.77.5 is still on eth1");
  EXPECT_EQ(address_here(addresses, {net::parse_ip("10.97.77.6").value()}), std::nullopt);
  EXPECT_EQ(address_here(addresses, {}), std::nullopt);
}

// Plays `ip`: the address exists until a test removes it, which the monitor reports.
class PlayedIp final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    if (command.argv != std::vector<std::string>{"ip", "-json", "address"}) {
      sys::Wakeup never;
      while (!context.stop.stop_requested() && has_address) std::this_thread::yield();
      command.on_line(sys::Stream::out, "Deleted 2: eth0 inet 10.97.77.5/32");
      context.clock.wait(context.clock.steady() + Seconds(60), context.stop, nullptr, 0);
      return error(Code::cancelled, "stopped");
    }
    ++looks;
    const std::string address = has_address ? R"({"local":"10.97.77.5","scope":"global"})" : "";
    return sys::Output{.out = R"([{"ifname":"eth0","flags":["UP"],"addr_info":[)" + address + "]}]", .err = ""};
  }

  std::atomic<bool> has_address = false;
  std::atomic<int> looks = 0;
};

template <class ContextType>
class World {
 public:
  World() {
    put("/assets/auth/kubeconfig-loopback", "kubeconfig");
    put("/assets/tls/ca.crt", "ca");
    for (const char* name : {"kube-apiserver-pod.yaml", "kube-controller-manager-pod.yaml", "kube-scheduler-pod.yaml",
                             "bootstrap-pod.yaml", "cloud-credential-operator-pod.yaml"}) {
      put(std::string("/assets/bootstrap-manifests/") + name, name);
    }
    put("/etc/kubernetes/manifests/etcd-member-pod.yaml", "etcd");
    EXPECT_TRUE(pods.place().ok());
    kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift-cluster-version"}}}});
  }

  void put(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0600).ok()); }
  bool has(const std::string& name) { return files.info("/etc/kubernetes/manifests/" + name).value().has_value(); }
  Result<> leave(std::vector<net::IpAddress> virtual_ips = {api_vip}) {
    return leave_control(context, {kube, ip, pods, "bootstrap", std::move(virtual_ips)});
  }

  MemoryFiles files;
  FakeKube kube;
  PlayedIp ip;
  ContextType test;
  sys::Context context = test.context();
  BootstrapOptions options{.asset_dir = "/assets", .pod_manifest_path = "/etc/kubernetes/manifests"};
  TemporaryPods pods{files, context.log, options};
};

TEST(LeaveControl, LetsTheAddressGoThenTheControllersThenTheApi) {
  World<RealTimeContext> world;
  for (const char* name : {"kube-controller-manager", "kube-scheduler", "cluster-policy-controller-lock"}) {
    world.kube.put(lease("kube-system", name, "bootstrap_1"));
  }
  world.kube.put(lease("openshift-cluster-version", "version", "bootstrap_2"));
  world.ip.has_address = true;
  Result<> done = Ok{};
  std::jthread tear_down([&] { done = world.leave(); });
  while (world.ip.looks < 2) std::this_thread::yield();
  EXPECT_TRUE(world.has("kube-scheduler-pod.yaml")) << "whoever gets its lease now begins by an address that is about to move";
  EXPECT_TRUE(world.has("bootstrap-pod.yaml"));
  world.ip.has_address = false;
  while (world.has("kube-scheduler-pod.yaml") || world.has("bootstrap-pod.yaml")) std::this_thread::yield();
  for (const char* name : {"kube-controller-manager", "kube-scheduler"}) world.kube.put(lease("kube-system", name, "master-0_1"));
  world.kube.put(lease("kube-system", "cluster-policy-controller-lock", ""));
  EXPECT_TRUE(world.has("kube-apiserver-pod.yaml")) << "one lease is still held";
  EXPECT_TRUE(world.files.info("/etc/kubernetes/bootstrap-secrets").value());
  world.kube.put(lease("openshift-cluster-version", "version", ""));
  tear_down.join();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_FALSE(world.has("kube-apiserver-pod.yaml"));
  EXPECT_FALSE(world.files.info("/etc/kubernetes/bootstrap-secrets").value());
  EXPECT_TRUE(world.has("etcd-member-pod.yaml")) << "of others";
  ASSERT_TRUE(world.leave().ok()) << "again";
}

TEST(LeaveControl, GivesBackWhatWasLeft) {
  World<TestContext> world;
  Json left = lease("kube-system", "kube-scheduler", "bootstrap_1");
  left.as_object()["spec"].as_object()["renewTime"] = to_rfc3339(world.context.clock.now() - Seconds(4));
  world.kube.put(left);
  ASSERT_TRUE(world.leave({}).ok());
  const Json now = kube::get(world.context, world.kube, kube::types::leases, "kube-system", "kube-scheduler").value();
  EXPECT_EQ(find_string(now, {"spec", "holderIdentity"}), "");
  for (const std::string& line : world.test.logged()) EXPECT_FALSE(line.starts_with("warn")) << line;
}

TEST(LeaveControl, DoesNotWaitForEver) {
  World<TestContext> world;
  world.kube.put(lease("kube-system", "kube-scheduler", "bootstrap_1"));
  ASSERT_TRUE(world.leave({}).ok());
  EXPECT_FALSE(world.has("kube-apiserver-pod.yaml"));
  const std::vector<std::string> lines = world.test.logged();
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("warn") && line.find("Lease kube-system/kube-scheduler is held by bootstrap_1") != std::string::npos;
  }));
}

TEST(LeaveControl, AStopLeavesTheApi) {
  World<RealTimeContext> world;
  world.kube.put(lease("kube-system", "kube-scheduler", "bootstrap_1"));
  world.test.stop.request_stop();
  EXPECT_EQ(world.leave().error().code(), Code::cancelled);
  EXPECT_TRUE(world.has("kube-apiserver-pod.yaml"));
  ASSERT_TRUE(world.pods.place().ok());
  EXPECT_TRUE(world.has("kube-scheduler-pod.yaml")) << "the next start goes on";
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
