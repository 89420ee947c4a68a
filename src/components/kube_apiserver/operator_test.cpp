#include "components/kube_apiserver/operator.h"

#include "components/kube_apiserver/certificates.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_apiserver {
namespace {

using kube::types::config_maps;
using kube::types::secrets;
using testing_support::StaticPodCluster;

const OperatorVariables variables = testing_support::operator_variables();
const std::string space(target_space);

struct Cluster : StaticPodCluster {
  Cluster() : StaticPodCluster(make_operator(variables), variables) {
    now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + std::chrono::hours(10);
    set({});
    // Objects that this operator creates do not exist yet; objects of the etcd operator do.
    for (std::string_view name : {"kube-apiserver-server-ca", "kube-apiserver-client-ca", "kube-apiserver-aggregator-client-ca"})
      view.remove(config_maps, managed_space, name);
    for (std::string_view name :
         {"kube-controller-manager-client-cert-key", "kube-scheduler-client-cert-key", "metrics-server-client-cert-key"})
      view.remove(secrets, managed_space, name);
    const std::string ca = text(config_maps, "openshift-etcd", "etcd-ca-bundle", "ca-bundle.crt");
    put(config_map({std::string(config_space), "etcd-serving-ca"}, {{"ca-bundle.crt", ca}}));
    put(secret({std::string(config_space), "etcd-client"}, "kubernetes.io/tls",
               {{"tls.crt", text(secrets, "openshift-etcd", "etcd-client", "tls.crt")},
                {"tls.key", text(secrets, "openshift-etcd", "etcd-client", "tls.key")}}));
  }
  // Puts the settings with this spec, and nodes that run the revision.
  void set(JsonObject spec, int revision = 0) {
    spec["managementState"] = "Managed";
    JsonArray nodes;
    for (int i = 0; i < 3 && revision > 0; ++i) {
      nodes.push_back(Json{{"nodeName", fmt::format("master-{}", i)}, {"currentRevision", revision}});
    }
    put({{"apiVersion", "operator.openshift.io/v1"},
         {"kind", "KubeAPIServer"},
         {"metadata", {{"name", "cluster"}}},
         {"spec", std::move(spec)},
         {"status", {{"nodeStatuses", std::move(nodes)}}}});
  }
  // Applies only the objects of this operator's target.
  void settle_target() {
    for (int rounds = 0; rounds < 10; ++rounds) {
      if (play(target().plan) == 0) return;
    }
    ADD_FAILURE() << "the plans never settle";
  }
  Json config() const { return document(space, "config", "config.yaml"); }
  std::string argument(std::string_view name) const {
    const Json made = config();
    const Json* value = find(made, {"apiServerArguments", name});
    return value == nullptr ? "none" : emit_json(*value, JsonStyle::compact);
  }
  net::CertificateInfo certificate(std::string_view in, std::string_view name) const {
    return net::parse_certificate(text(secrets, in, name, "tls.crt")).value();
  }
};

TEST(ApiServerOperator, CreatesOneRevisionFromTheRenderedObjects) {
  Cluster cluster;
  testing_support::expect_one_revision(cluster);
}

TEST(ApiServerOperator, ChangesDuringAnInstallationCreateNoRevision) {
  Cluster cluster;
  cluster.settle();
  const std::string etcd = "openshift-etcd";
  cluster.put(config_map({etcd, "etcd-endpoints"}, {{"a1", "10.97.77.11"}}));
  cluster.put(config_map({std::string(managed_space), "csr-controller-ca"},
                         {{"ca-bundle.crt", cluster.text(config_maps, managed_space, "csr-controller-ca", "ca-bundle.crt") +
                                                cluster.text(config_maps, etcd, "etcd-ca-bundle", "ca-bundle.crt")}}));
  cluster.view.remove(secrets, space, "kubelet-client");
  cluster.put(secret({std::string(config_space), "etcd-client"}, "kubernetes.io/tls",
                     {{"tls.crt", cluster.text(secrets, etcd, "etcd-metric-client", "tls.crt")},
                      {"tls.key", cluster.text(secrets, etcd, "etcd-metric-client", "tls.key")}}));
  cluster.put(secret({space, "localhost-recovery-client-token"}, "kubernetes.io/service-account-token", {{"token", "t"}}));
  EXPECT_GT(cluster.settle(), 0);
  EXPECT_FALSE(cluster.has_revision(2));
  EXPECT_EQ(cluster.text(secrets, space, "etcd-client", "tls.crt"), cluster.text(secrets, etcd, "etcd-metric-client", "tls.crt"));
  EXPECT_EQ(cluster.text(config_maps, space, "kubelet-serving-ca", "ca-bundle.crt"),
            cluster.text(config_maps, managed_space, "csr-controller-ca", "ca-bundle.crt"));
}

TEST(ApiServerOperator, ConfiguresServersOfMasters) {
  Cluster cluster;
  cluster.settle();
  EXPECT_EQ(cluster.argument("etcd-servers"), R"(["https://localhost:2379"])");
  EXPECT_EQ(cluster.argument("shutdown-delay-duration"), R"(["8s"])");
  EXPECT_EQ(cluster.argument("feature-gates"),
            R"(["ImageVolume=true","OpenShiftPodSecurityAdmission=true","RouteExternalCertificate=false"])");
  const Json config = cluster.config();
  EXPECT_EQ(find_string(config, {"servicesSubnet"}), "172.30.0.0/16");
  EXPECT_EQ(emit_yaml(config).find("/etc/kubernetes/secrets"), std::string::npos);
  const Json policy = cluster.document(space, "kube-apiserver-audit-policies", "policy.yaml");
  EXPECT_EQ(find_string(policy, {"kind"}), "Policy");
  const Json pod = cluster.document(space, "kube-apiserver-pod", "pod.yaml");
  EXPECT_EQ(find_array(pod, {"spec", "containers"}).size(), 1u);
  EXPECT_EQ(find_array(pod, {"spec", "containers"}).at(0).at("image"), Json(variables.image));
  EXPECT_EQ(*find(pod, {"spec", "terminationGracePeriodSeconds"}), Json(25));
}

TEST(ApiServerOperator, MergesSettingsIntoTheConfig) {
  Cluster cluster;
  cluster.set({{"observedConfig", {{"apiServerArguments", {{"event-ttl", {"1h"}}, {"goaway-chance", {"0"}}}}}},
               {"unsupportedConfigOverrides", {{"apiServerArguments", {{"event-ttl", {"2h"}}}}}}});
  cluster.settle();
  EXPECT_EQ(cluster.argument("event-ttl"), R"(["2h"])");
  EXPECT_EQ(cluster.argument("goaway-chance"), R"(["0"])");
}

// Every file that the pod and its config name must be a part of the operand.
TEST(ApiServerOperator, NamesOnlyExistingFiles) {
  Cluster cluster;
  cluster.settle();
  const std::string all = cluster.text(config_maps, space, "config", "config.yaml") +
                          cluster.text(config_maps, space, "kube-apiserver-pod", "pod.yaml") +
                          cluster.text(config_maps, space, "control-plane-node-kubeconfig", "kubeconfig");
  const auto check = [&](std::string_view root, const std::vector<Part>& parts, int at_least) {
    int count = 0;
    for (std::size_t at = all.find(root); at != std::string::npos; at = all.find(root, at + 1)) {
      const std::size_t begin = at + root.size();
      const std::string path = all.substr(begin, all.find_first_of("\n \"'", begin) - begin);
      if (!path.starts_with("configmaps/") && !path.starts_with("secrets/")) continue;
      const auto holds = [&](const Part& part) {
        const std::string folder = fmt::format("{}/{}", part.folder(), part.name);
        const Snapshot seen = cluster.view.snapshot();
        const Json* object = seen.find(part.type(), space, part.name);
        return path == folder || (path.starts_with(folder + "/") && data_of(object, path.substr(folder.size() + 1)));
      };
      EXPECT_TRUE(std::ranges::any_of(parts, holds)) << root << path;
      ++count;
    }
    EXPECT_GE(count, at_least) << root;
  };
  check("/etc/kubernetes/static-pod-certs/", cluster.work.operand.unversioned, 20);
  check("/etc/kubernetes/static-pod-resources/", cluster.work.operand.revisioned, 5);
  check("/static-pod-resources/kube-apiserver-certs/", cluster.work.operand.unversioned, 3);
}

TEST(ApiServerOperator, ServesWithCertificatesThatKubeconfigsTrust) {
  Cluster cluster;
  const std::string balancer_ca = cluster.text(secrets, operator_space, "loadbalancer-serving-signer", "tls.crt");
  cluster.settle();
  for (const auto& [name, host] : {std::pair{"external-loadbalancer-serving-certkey", "api.demo.example.com"},
                                   std::pair{"internal-loadbalancer-serving-certkey", "api-int.demo.example.com"}}) {
    EXPECT_EQ(cluster.certificate(space, name).dns_names, std::vector<std::string>{host});
    EXPECT_TRUE(net::is_signed_by(cluster.text(secrets, space, name, "tls.crt"), balancer_ca).value());
  }
  const net::CertificateInfo service = cluster.certificate(space, "service-network-serving-certkey");
  EXPECT_EQ(service.ip_addresses, std::vector<std::string>{"172.30.0.1"});
  EXPECT_EQ(service.dns_names.size(), 8u);
  EXPECT_NE(cluster.text(config_maps, space, "kube-apiserver-server-ca", "ca-bundle.crt").find(balancer_ca), std::string::npos);
  EXPECT_EQ(cluster.text(config_maps, managed_space, "kube-apiserver-server-ca", "ca-bundle.crt"),
            cluster.text(config_maps, space, "kube-apiserver-server-ca", "ca-bundle.crt"));
  EXPECT_EQ(cluster.certificate(managed_space, "kube-scheduler-client-cert-key").subject.common_name, "system:kube-scheduler");
  const net::SubjectName measurer = cluster.certificate(managed_space, "metrics-server-client-cert-key").subject;
  EXPECT_EQ(measurer.common_name, "system:openshift-metrics-server");
  EXPECT_TRUE(measurer.organizations.empty()) << "it has no rights of a group";
  EXPECT_TRUE(net::is_signed_by(cluster.text(secrets, managed_space, "metrics-server-client-cert-key", "tls.crt"),
                                cluster.text(secrets, operator_space, "kube-apiserver-to-kubelet-signer", "tls.crt"))
                  .value());
}

TEST(ApiServerOperator, TrustsEveryClient) {
  Cluster cluster;
  cluster.put({{"apiVersion", "config.openshift.io/v1"},
               {"kind", "APIServer"},
               {"metadata", {{"name", "cluster"}}},
               {"spec", {{"clientCA", {{"name", "our-people"}}}}}});
  cluster.settle();
  EXPECT_FALSE(cluster.has_revision(1)) << "the authority of people is missing";
  const std::string people = cluster.text(config_maps, "openshift-etcd", "etcd-metrics-ca-bundle", "ca-bundle.crt");
  cluster.put(config_map({std::string(config_space), "our-people"}, {{"ca-bundle.crt", people}}));
  cluster.settle();
  const std::string bundle = cluster.text(config_maps, space, "client-ca", "ca-bundle.crt");
  EXPECT_NE(bundle.find(people), std::string::npos);
  EXPECT_EQ(net::split_certificates(bundle).value().size(), 7u);
  EXPECT_EQ(cluster.text(config_maps, managed_space, "kube-apiserver-client-ca", "ca-bundle.crt"), bundle);
}

TEST(ApiServerOperator, UsesANewTokenKeyOnlyWhenAllNodesTrustIt) {
  Cluster cluster;
  const std::string first =
      cluster.text(secrets, operator_space, "next-bound-service-account-signing-key", "service-account.key");
  cluster.settle();
  const auto used = [&] { return cluster.text(secrets, space, "bound-service-account-signing-key", "service-account.key"); };
  EXPECT_EQ(used(), first) << "the first key needs no wait";

  cluster.view.remove(secrets, operator_space, "next-bound-service-account-signing-key");
  cluster.set({}, 1);
  cluster.settle_target();
  const std::string second =
      cluster.text(secrets, operator_space, "next-bound-service-account-signing-key", "service-account.key");
  ASSERT_NE(second, first);
  EXPECT_EQ(used(), first);
  const std::string pem = cluster.text(config_maps, space, "bound-sa-token-signing-certs", "service-account-002.pub");
  EXPECT_EQ(pem, net::public_key(Secret(second)).value());
  EXPECT_EQ(cluster.text(config_maps, space, "bound-sa-token-signing-certs", "service-account-001.pub"),
            net::public_key(Secret(first)).value());

  cluster.put(config_map({space, "bound-sa-token-signing-certs-2"}, {{"service-account-002.pub", pem}}));
  cluster.settle_target();
  EXPECT_EQ(used(), first) << "no node has revision 2";
  cluster.set({}, 2);
  cluster.settle_target();
  EXPECT_EQ(used(), second);
}

TEST(ApiServerOperator, ReportsWhatIsMissing) {
  const testing_support::NeededInput cases[] = {
      {kube::types::infrastructures, "", "cluster", "Infrastructure cluster"},
      {kube::types::networks, "", "cluster", "Network cluster"},
      {kube::types::feature_gates, "", "cluster", "FeatureGate cluster"},
      {config_maps, "openshift-config", "etcd-serving-ca", "ConfigMap openshift-config/etcd-serving-ca"},
      {secrets, "openshift-config", "etcd-client", "Secret openshift-config/etcd-client"},
      {config_maps, "openshift-config", "admin-kubeconfig-client-ca", "ConfigMap openshift-config/admin-kubeconfig-client-ca"},
      {config_maps, "openshift-config-managed", "csr-controller-ca", "ConfigMap openshift-config-managed/csr-controller-ca"},
      {config_maps, "openshift-config-managed", "sa-token-signing-certs", "ConfigMap openshift-config-managed/sa-token"},
  };
  for (const auto& row : cases) {
    const std::vector<std::string> missing = testing_support::missing_without<Cluster>(row);
    EXPECT_TRUE(std::ranges::any_of(missing, [&](const std::string& line) { return line.starts_with(row.line); })) << row.line;
  }
}

TEST(ApiServerOperator, ChosenLifetimesApplyToReloadedCertificates) {
  Cluster cluster;
  cluster.set_lifetimes({{"authority", "20m"}, {"leaf", "5m"}});
  cluster.settle();
  const std::string balancer = cluster.text(secrets, operator_space, "loadbalancer-serving-signer", "tls.crt");
  const std::string clients = cluster.text(secrets, operator_space, "kube-control-plane-signer", "tls.crt");
  const std::string leaf = cluster.text(secrets, space, "localhost-serving-cert-certkey", "tls.crt");
  const std::string recovery = cluster.text(secrets, space, "localhost-recovery-serving-certkey", "tls.crt");
  for (int i = 0; i < 60; ++i) {
    cluster.now += Seconds(60);
    cluster.settle_target();
    for (const Leaf& row : leaves({"api.demo.example.com", "api-int.demo.example.com", "172.30.0.1"})) {
      ASSERT_GT(cluster.certificate(row.secret.space, row.secret.name).not_after, cluster.now) << row.secret.name;
    }
  }
  EXPECT_EQ(cluster.text(secrets, operator_space, "loadbalancer-serving-signer", "tls.crt"), balancer);
  EXPECT_NE(cluster.text(secrets, operator_space, "kube-control-plane-signer", "tls.crt"), clients);
  EXPECT_NE(cluster.text(secrets, space, "localhost-serving-cert-certkey", "tls.crt"), leaf);
  EXPECT_EQ(cluster.text(secrets, space, "localhost-recovery-serving-certkey", "tls.crt"), recovery) << "repairs are made by it";
  cluster.settle();
  EXPECT_FALSE(cluster.has_revision(2)) << "certificates are no reason for a revision";
}

TEST(ApiServerOperator, ReportsAnInvalidLifetimeAndContinues) {
  Cluster cluster;
  cluster.set_lifetimes({{"leaf", "soon"}});
  const std::vector<Condition> conditions = cluster.target().conditions;
  EXPECT_TRUE(std::ranges::any_of(conditions, [](const Condition& condition) {
    return condition.type == "CertificateRotationDegraded" && condition.is_true &&
           condition.message.find("'soon'") != std::string::npos;
  }));
  cluster.settle();
  EXPECT_TRUE(cluster.has_revision(1));
}

}  // namespace
}  // namespace slipway::components::kube_apiserver
