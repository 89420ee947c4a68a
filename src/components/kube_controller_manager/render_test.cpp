#include "components/kube_controller_manager/render.h"

#include "base/yaml.h"
#include "support/operator_environment.h"
#include "support/render_assets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::kube_controller_manager {
namespace {

struct World : testing_support::OperatorEnvironment {
  explicit World(const testing_support::RenderAssets& assets = {}) {
    EXPECT_TRUE(testing_support::put_render_assets(files, "/assets", assets).ok());
  }
  Result<> render() {
    return run_render(environment(),
                      {"--cluster-policy-controller-image=registry.example.com/policy@sha256:3",
                       "--manifest-image=registry.example.com/hyperkube@sha256:1", "--asset-input-dir=/assets/tls",
                       "--asset-output-dir=/out", "--config-output-file=/out/config", "--cpc-config-output-file=/out/cpc-config",
                       "--cluster-config-file=/assets/manifests/cluster-network-02-config.yml",
                       "--rendered-manifest-files=/assets/manifests", "--payload-version=0.1.0"});
  }
  std::vector<std::string> words() {
    std::vector<std::string> all;
    const Json pod = parse_yaml(text("/out/bootstrap-manifests/kube-controller-manager-pod.yaml"), "pod").value().value;
    for (const Json& word : pod.at("spec").at("containers").at(0).at("args").as_array()) all.emplace_back(word.as_string());
    return all;
  }
  bool has_word(std::string_view word) {
    const std::vector<std::string> all = words();
    return std::ranges::find(all, word) != all.end();
  }
};

const std::vector<std::string> tree = {
    "bootstrap-manifests/kube-controller-manager-pod.yaml",
    "config",
    "cpc-config",
    "manifests/0000_00_namespace-openshift-infra.yaml",
    "manifests/00_namespace-security-allocation-controller-clusterrole.yaml",
    "manifests/00_namespace-security-allocation-controller-clusterrolebinding.yaml",
    "manifests/00_openshift-kube-controller-manager-ns.yaml",
    "manifests/00_openshift-kube-controller-manager-operator-ns.yaml",
    "manifests/00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrole.yaml",
    "manifests/00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrolebinding.yaml",
    "manifests/00_podsecurity-admission-label-syncer-controller-clusterrole.yaml",
    "manifests/00_podsecurity-admission-label-syncer-controller-clusterrolebinding.yaml",
    "manifests/configmap-csr-controller-ca.yaml",
    "manifests/secret-csr-signer-signer.yaml",
    "manifests/secret-initial-kube-controller-manager-service-account-private-key.yaml"};

TEST(ControllerManagerRender, TwiceGivesTheSame) {
  World world;
  testing_support::expect_twice_the_same(world, tree);
}

TEST(ControllerManagerRender, AssignsPodNetworksForEveryNetworkType) {
  for (const char* type : {"Flannel", "OVNKubernetes"}) {
    World world({.network_type = type});
    ASSERT_TRUE(world.render().ok()) << type;
    for (const char* word : {"--allocate-node-cidrs=true", "--node-cidr-mask-size=23", "--cluster-cidr=10.128.0.0/14"}) {
      EXPECT_TRUE(world.has_word(word)) << type << " " << word;
    }
  }
}

TEST(ControllerManagerRender, SupportsBothAddressFamilies) {
  const auto cluster = [](std::string_view cidr, int prefix) { return ClusterNetwork{net::parse_cidr(cidr).value(), prefix}; };
  Findings fine, twice;
  const JsonObject both = network_arguments({"Flannel", {cluster("10.128.0.0/14", 0), cluster("fd01::/48", 64)}, {}}, "f", fine);
  EXPECT_EQ(fine.to_text(), "");
  EXPECT_EQ(both.at("node-cidr-mask-size-ipv4"), (Json{"23"}));
  EXPECT_EQ(both.at("node-cidr-mask-size-ipv6"), (Json{"64"}));
  EXPECT_EQ(both.at("cluster-cidr"), (Json{"10.128.0.0/14,fd01::/48"}));
  network_arguments({"Flannel", {cluster("10.128.0.0/14", 23), cluster("10.0.0.0/14", 23)}, {}}, "f", twice);
  EXPECT_TRUE(twice.has_errors());
}

TEST(ControllerManagerRender, ReleasesItsLease) {
  World world;
  ASSERT_TRUE(world.render().ok());
  EXPECT_TRUE(world.has_word("--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true"));
  EXPECT_TRUE(world.has_word("--feature-gates=RouteExternalCertificate=false"));
  EXPECT_EQ(gate_settings({{"A"}, {"ControllerManagerReleaseLeaderElectionLockOnExit"}}),
            (std::vector<std::string>{"A=true", "ControllerManagerReleaseLeaderElectionLockOnExit=true"}));
}

TEST(ControllerManagerRender, SortsWordsAfterItsOwn) {
  World world;
  ASSERT_TRUE(world.render().ok());
  const std::vector<std::string> words = world.words();
  ASSERT_GT(words.size(), 3u);
  EXPECT_EQ(words[2], "--v=2");
  EXPECT_TRUE(std::is_sorted(words.begin() + 3, words.end()));
}

TEST(ControllerManagerRender, ReportsEveryMissingInput) {
  World world;
  for (std::string_view file : {"tls/kubelet-signer.crt", "tls/kubelet-client-ca-bundle.crt", "tls/service-account.key"}) {
    ASSERT_TRUE(world.files.remove(fmt::format("/assets/{}", file)).ok());
  }
  const Result<> rendered = world.render();
  ASSERT_FALSE(rendered.ok());
  for (std::string_view expected : {"kubelet-signer.crt", "kubelet-client-ca-bundle.crt", "service-account.key"}) {
    EXPECT_NE(rendered.error().message().find(expected), std::string::npos) << rendered.error().message();
  }
}

}  // namespace
}  // namespace slipway::components::kube_controller_manager
