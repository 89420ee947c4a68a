#include "components/kube_controller_manager/operator.h"

#include "components/kube_controller_manager/keys.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_controller_manager {
namespace {

using kube::types::config_maps;
using kube::types::secrets;
using testing_support::StaticPodCluster;

const OperatorVariables variables = testing_support::operator_variables();

struct Cluster : StaticPodCluster {
  Cluster() : StaticPodCluster(make_operator(variables, "registry.example.com/policy@sha256:3"), variables) {}
};

std::string value(const Json& config, std::string_view argument) {
  const JsonArray& values = find_array(config, {"extendedArguments", argument});
  return values.size() == 1 && values[0].is_string() ? std::string(std::string_view(values[0].get_string())) : "";
}

TEST(ControllerManagerOperator, CreatesOneRevisionFromTheRenderedObjects) {
  Cluster cluster;
  testing_support::expect_one_revision(cluster);
}

TEST(ControllerManagerOperator, DoesNotChangeWhatApiServersTrust) {
  Cluster cluster;
  const std::string before = cluster.text(config_maps, managed_space, "csr-controller-ca", "ca-bundle.crt");
  const std::string keys = cluster.text(config_maps, managed_space, "sa-token-signing-certs", "service-account-001.pub");
  cluster.settle();
  EXPECT_EQ(cluster.text(config_maps, managed_space, "csr-controller-ca", "ca-bundle.crt"), before);
  EXPECT_EQ(cluster.text(config_maps, managed_space, "sa-token-signing-certs", "service-account-001.pub"), keys);
  EXPECT_EQ(cluster.text(secrets, space, "csr-signer", "tls.crt"),
            cluster.text(secrets, operator_space, "csr-signer-signer", "tls.crt"));
}

TEST(ControllerManagerOperator, ConfiguresTheSameAsTheTemporaryCommandLine) {
  Cluster cluster;
  cluster.settle();
  const Json config = cluster.document(space, "config", "config.yaml");
  EXPECT_EQ(value(config, "allocate-node-cidrs"), "true");
  EXPECT_EQ(value(config, "cluster-cidr"), "10.128.0.0/14");
  EXPECT_EQ(value(config, "cluster-name"), "demo-nzhxd");
  EXPECT_EQ(value(config, "leader-elect-retry-period"), "1s");
  const std::string text = emit_yaml(config);
  EXPECT_NE(text.find("ControllerManagerReleaseLeaderElectionLockOnExit=true"), std::string::npos);
  EXPECT_EQ(text.find("/etc/kubernetes/secrets/"), std::string::npos) << text;
  const Json policy = cluster.document(space, "cluster-policy-controller-config", "config.yaml");
  EXPECT_EQ(find_string(policy, {"servingInfo", "bindAddress"}), "127.0.0.1:10357");
  const Json kubeconfig = cluster.document(space, "controller-manager-kubeconfig", "kubeconfig");
  EXPECT_EQ(find_array(kubeconfig, {"clusters"}).at(0).at("cluster").at("server"), "https://api-int.demo.example.com:6443");
}

// Every file that the pod, its config and its kubeconfig name must be a part of the operand.
TEST(ControllerManagerOperator, NamesOnlyExistingFiles) {
  Cluster cluster;
  cluster.settle();
  std::string all;
  for (const Part& part : cluster.work.operand.revisioned) {
    const Snapshot seen = cluster.view.snapshot();
    if (part.kind == Part::Kind::config_map) all += emit_yaml(find_object(*seen.find(config_maps, space, part.name), {"data"}));
  }
  const auto check = [&](std::string_view root, const std::vector<Part>& parts) {
    int count = 0;
    for (std::size_t at = all.find(root); at != std::string::npos; at = all.find(root, at + 1)) {
      const std::size_t begin = at + root.size();
      const std::string path = all.substr(begin, all.find_first_of("\n \"'", begin) - begin);
      const auto holds = [&](const Part& part) {
        const std::string folder = fmt::format("{}/{}/", part.folder(), part.name);
        const Snapshot seen = cluster.view.snapshot();
        return path.starts_with(folder) && data_of(seen.find(part.type(), space, part.name), path.substr(folder.size()));
      };
      EXPECT_TRUE(std::ranges::any_of(parts, holds)) << root << path;
      ++count;
    }
    EXPECT_GT(count, 5);
  };
  check("/static-pod-certs/", cluster.work.operand.unversioned);
  // Both folders of a revision; the host's paths end in a number.
  const std::string resources = "/etc/kubernetes/static-pod-resources/";
  std::vector<Part> parts = cluster.work.operand.revisioned;
  for (std::size_t at = all.find(resources); at != std::string::npos; at = all.find(resources, at + 1)) {
    const std::string name = all.substr(at + resources.size(), 4);
    if (name == "conf" || name == "secr") all.replace(at, resources.size(), "/revision/");
  }
  check("/revision/", parts);
}

TEST(ControllerManagerOperator, ReportsWhatIsMissing) {
  const testing_support::NeededInput cases[] = {
      {kube::types::infrastructures, "", "cluster", "Infrastructure cluster"},
      {kube::types::networks, "", "cluster", "Network cluster"},
      {kube::types::feature_gates, "", "cluster", "FeatureGate cluster"},
      {config_maps, "openshift-config-managed", "kube-apiserver-server-ca",
       "ConfigMap openshift-config-managed/kube-apiserver-server"},
      {secrets, "openshift-config-managed", "kube-controller-manager-client-cert-key",
       "Secret openshift-config-managed/kube-con"},
      {secrets, "openshift-kube-controller-manager-operator", "csr-signer-signer",
       "Secret openshift-kube-controller-manager-operator/"},
      {secrets, "openshift-config", "initial-service-account-private-key", "Secret openshift-config/initial-service"},
  };
  for (const auto& each : cases) {
    const std::vector<std::string> missing = testing_support::missing_without<Cluster>(each);
    ASSERT_EQ(missing.size(), 1u) << each.line;
    EXPECT_TRUE(missing[0].starts_with(each.line)) << missing[0];
  }
}

TEST(ControllerManagerOperator, AddsServiceCaWithoutARevision) {
  Cluster cluster;
  cluster.settle();
  cluster.put(config_map({std::string(managed_space), "service-ca"}, {{"ca-bundle.crt", "one"}}));
  cluster.settle();
  EXPECT_EQ(cluster.text(config_maps, space, "service-ca", "ca-bundle.crt"), "one");
  EXPECT_FALSE(cluster.has_revision(2));
}

TEST(ControllerManagerOperator, SettingsOverrideTheConfig) {
  Cluster cluster;
  cluster.put(
      {{"apiVersion", "operator.openshift.io/v1"},
       {"kind", "KubeControllerManager"},
       {"metadata", {{"name", "cluster"}}},
       {"spec",
        {{"managementState", "Managed"},
         {"observedConfig", {{"extendedArguments", {{"kube-api-qps", Json(JsonArray{"7"})}, {"v", Json(JsonArray{"4"})}}}}},
         {"unsupportedConfigOverrides", {{"extendedArguments", {{"kube-api-qps", Json(JsonArray{"8"})}}}}}}}});
  cluster.settle();
  const Json config = cluster.document(space, "config", "config.yaml");
  EXPECT_EQ(value(config, "kube-api-qps"), "8");
  EXPECT_EQ(value(config, "v"), "4");
}

TEST(ControllerManagerOperator, SignsForTheChosenLifetimeOfKubelets) {
  Cluster cluster;
  cluster.settle();
  EXPECT_EQ(value(cluster.document(space, "config", "config.yaml"), "cluster-signing-duration"), "720h");
  cluster.set_lifetimes({{"kubelet", "1h30m"}});
  cluster.settle();
  EXPECT_EQ(value(cluster.document(space, "config", "config.yaml"), "cluster-signing-duration"), "5400s");
  EXPECT_TRUE(cluster.has_revision(2));
}

}  // namespace
}  // namespace slipway::components::kube_controller_manager
