#include "components/cluster_bootstrap/required_pods.h"

#include "components/cluster_bootstrap/options.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_bootstrap {
namespace {

Json pod(std::string_view space, std::string_view name, std::string_view phase, std::string_view ready) {
  return {{"metadata", {{"namespace", space}, {"name", name}}},
          {"status", {{"phase", phase}, {"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}}}}}}};
}

TEST(RequiredPods, AreJudgedOverAllThatMatch) {
  const auto required = parse_required_pods("a/kube-apiserver,b/etcd,c/x,Network:d/ovn|d/flannel,e/none").value();
  const std::vector<Json> pods = {pod("a", "kube-apiserver-guard-m0", "Running", "True"),
                                  pod("a", "kube-apiserver-m0", "Pending", "False"),
                                  pod("a", "kube-apiserver-m1", "Running", "False"),
                                  pod("b", "etcd-m0", "Running", "True"),
                                  pod("b", "etcd-m1", "Pending", "False"),
                                  pod("c", "x", "Succeeded", "False"),
                                  pod("d", "flannel-1", "Running", "True"),
                                  pod("z", "none", "Running", "True")};
  const auto states = pod_states(required, pods);
  EXPECT_EQ(states, (std::vector<PodState>{PodState::running_not_ready, PodState::ready, PodState::pending, PodState::ready,
                                           PodState::does_not_exist}));
  EXPECT_EQ(not_ready(required, states), "a/kube-apiserver: RunningNotReady, c/x: Pending, e/none: DoesNotExist");
  EXPECT_EQ(not_ready(required, std::vector<PodState>(5, PodState::ready)), "");
}

TEST(RequiredPods, AreReadFromAList) {
  EXPECT_TRUE(parse_required_pods("")->empty());
  const auto one = parse_required_pods("DNS:dns/a|dns/b").value();
  EXPECT_EQ(one, (std::vector<RequiredPod>{{"DNS", {"dns/a", "dns/b"}}}));
  for (const char* text : {"etcd", "/etcd", "a/", "a/b,", "x:a|b/c"}) EXPECT_FALSE(parse_required_pods(text).ok()) << text;
}

TEST(BootstrapOptions, HaveUpstreamsDefaults) {
  const auto options = parse_bootstrap_options({"--asset-dir=/assets", "--required-pods=", "--tear-down-early=false"});
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->secrets_path(), "/etc/kubernetes/bootstrap-secrets");
  EXPECT_EQ(options->create_limit, Milliseconds(3'600'000));
  EXPECT_TRUE(options->required_pods.empty());
  EXPECT_FALSE(options->tear_down_early);
  EXPECT_EQ(options->pods_limit, Milliseconds(1'200'000));
  EXPECT_EQ(parse_bootstrap_options({"--asset-dir=/a"})->required_pods.size(), 4u);
  EXPECT_EQ(parse_bootstrap_options({"--asset-dir=/a", "--required-pods-timeout=50m"})->pods_limit, Milliseconds(3'000'000));
}

TEST(GoDurations, AreRead) {
  EXPECT_EQ(parse_go_duration("1h30m").value(), Milliseconds(5'400'000));
  EXPECT_EQ(parse_go_duration("1.5s").value(), Milliseconds(1'500));
  EXPECT_EQ(parse_go_duration("250ms").value(), Milliseconds(250));
  EXPECT_EQ(parse_go_duration("0").value(), Milliseconds(0));
  for (const char* text : {"", "5", "m", "-1s", "1x", "infs", "nanh", "1000001h"})
    EXPECT_FALSE(parse_go_duration(text).ok()) << text;
}

}  // namespace
}  // namespace slipway::components::cluster_bootstrap
