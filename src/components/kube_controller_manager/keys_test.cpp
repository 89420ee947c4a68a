#include "components/kube_controller_manager/keys.h"

#include "components/kube_controller_manager/operator.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_controller_manager {
namespace {

using namespace std::chrono_literals;
using kube::types::config_maps;
using kube::types::secrets;
using testing_support::StaticPodCluster;

const OperatorVariables variables{"image", "operator-image", "0.1.0", "0.1.0"};

// A cluster in which the operator has applied its objects.
struct Cluster : StaticPodCluster {
  explicit Cluster(std::string_view authority = "") : StaticPodCluster(make_operator(variables, "policy-image"), variables) {
    set_spec({{"managementState", "Managed"}});
    if (!authority.empty()) set_lifetimes({{"authority", std::string(authority)}});
    settle();
  }
  std::string signer() const { return text(secrets, operator_space, "csr-signer", "tls.crt"); }
  std::string used_signer() const { return text(secrets, space, "csr-signer", "tls.crt"); }
  std::string trusted() const { return text(config_maps, managed_space, "csr-controller-ca", "ca-bundle.crt"); }
  std::string used_key() const { return text(secrets, space, "service-account-private-key", "service-account.key"); }
  std::string first_key() const {
    return text(secrets, "openshift-config", "initial-service-account-private-key", "service-account.key");
  }
  std::size_t published_keys() const {
    return find_object(*view.snapshot().find(config_maps, managed_space, "sa-token-signing-certs"), {"data"}).size();
  }
  bool has_next_key() const { return has(secrets, operator_space, "next-service-account-private-key"); }

  void pass(Milliseconds time) {
    now += time;
    settle();
  }
  void complete_installation() {
    put({{"apiVersion", "config.openshift.io/v1"},
         {"kind", "ClusterVersion"},
         {"metadata", {{"name", "version"}}},
         {"status", {{"history", Json(JsonArray{Json{{"state", "Completed"}, {"completionTime", to_rfc3339(now)}}})}}}});
  }
  void serve_at(std::string_view address) {
    put({{"apiVersion", "v1"},
         {"kind", "Endpoints"},
         {"metadata", {{"name", "kubernetes"}, {"namespace", "default"}}},
         {"subsets", Json(JsonArray{Json{{"addresses", Json(JsonArray{Json{{"ip", address}}})}}})}});
  }
  void roll_api_servers(int latest, int current) {
    const Json node{{"nodeName", "master-0"}, {"currentRevision", current}};
    put({{"apiVersion", "operator.openshift.io/v1"},
         {"kind", "KubeAPIServer"},
         {"metadata", {{"name", "cluster"}}},
         {"status", {{"latestAvailableRevision", latest}, {"nodeStatuses", Json(JsonArray{node})}}}});
  }
};

TEST(CsrSigner, IsPublishedBeforeItSigns) {
  Cluster cluster;
  const std::string first = cluster.used_signer();
  // The installer's authority is valid for 24 hours and is one hour old.
  cluster.pass(18h);
  EXPECT_EQ(cluster.signer(), first);
  cluster.pass(15min);
  const std::string second = cluster.signer();
  EXPECT_NE(second, first);
  EXPECT_EQ(cluster.trusted(), second + first);
  EXPECT_EQ(cluster.used_signer(), first);
  cluster.pass(4min);
  EXPECT_EQ(cluster.used_signer(), first);
  cluster.pass(1min);
  EXPECT_EQ(cluster.used_signer(), second);
  cluster.pass(6h);
  EXPECT_EQ(cluster.trusted(), second);
  EXPECT_FALSE(cluster.has_revision(2));
}

TEST(CsrSigner, ReportsWhenTheNextPlanIsDue) {
  Cluster cluster;
  const auto again = [&] {
    const Snapshot seen = cluster.view.snapshot();
    Target target;
    EXPECT_TRUE(plan_csr_signer(seen, {}, cluster.now, target).ok());
    return target.plan.replan_at;
  };
  ASSERT_TRUE(again().has_value());
  const std::string first = cluster.signer();
  cluster.now = *again();
  cluster.settle();
  const std::string second = cluster.signer();
  EXPECT_NE(second, first);
  cluster.now = *again();
  cluster.settle();
  EXPECT_EQ(cluster.used_signer(), second);
}

TEST(CsrSigner, FollowsTheChosenLifetime) {
  Cluster cluster("20m");
  // The lifetime requires a new authority after ten minutes, and the first one is one hour old.
  const std::string second = cluster.signer();
  EXPECT_NE(second, cluster.text(secrets, operator_space, "csr-signer-signer", "tls.crt"));
  cluster.pass(2min);
  EXPECT_EQ(cluster.used_signer(), second);
  cluster.pass(8min);
  EXPECT_NE(cluster.signer(), second);
  EXPECT_EQ(cluster.used_signer(), second);
}

TEST(CsrSigner, IsReplacedAtOnceWhenItHasExpired) {
  Cluster cluster;
  cluster.pass(48h);
  EXPECT_EQ(cluster.used_signer(), cluster.signer());
  EXPECT_EQ(cluster.trusted(), cluster.signer());
}

TEST(CsrSigner, IsGeneratedWhenTheInstallersHasExpired) {
  Cluster cluster;
  cluster.view.remove(secrets, operator_space, "csr-signer");
  cluster.view.remove(secrets, space, "csr-signer");
  cluster.pass(48h);
  EXPECT_EQ(cluster.used_signer(), cluster.signer());
  EXPECT_EQ(cluster.trusted(), cluster.signer());
}

TEST(CsrSigner, RepairsAnInvalidBundle) {
  Cluster cluster;
  cluster.put(config_map({std::string(managed_space), "csr-controller-ca"},
                         {{"ca-bundle.crt", "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n"}}));
  cluster.settle();
  EXPECT_EQ(cluster.trusted(), cluster.signer());
}

TEST(AccountKey, IsReplacedByAKeyThatTheBootstrapMachineNeverHad) {
  Cluster cluster;
  EXPECT_EQ(cluster.used_key(), cluster.first_key());
  cluster.complete_installation();
  cluster.serve_at("10.97.77.10");
  cluster.roll_api_servers(1, 1);
  cluster.pass(59min);
  EXPECT_FALSE(cluster.has_next_key());
  cluster.pass(1min);
  EXPECT_TRUE(cluster.has_next_key());
  EXPECT_EQ(cluster.published_keys(), 2u);
  EXPECT_EQ(cluster.used_key(), cluster.first_key());
  // The API servers are being rolled out with the new key.
  cluster.roll_api_servers(2, 1);
  cluster.pass(10min);
  EXPECT_EQ(cluster.used_key(), cluster.first_key());
  EXPECT_FALSE(cluster.has_revision(2));
  cluster.roll_api_servers(2, 2);
  cluster.settle();
  EXPECT_EQ(cluster.used_key(), cluster.text(secrets, operator_space, "next-service-account-private-key", "service-account.key"));
  EXPECT_TRUE(cluster.has_revision(2));
  EXPECT_EQ(cluster.settle(), 0);
  EXPECT_EQ(cluster.published_keys(), 2u);
}

TEST(AccountKey, WaitsFiveMinutesEvenWithoutARollout) {
  Cluster cluster;
  cluster.complete_installation();
  cluster.serve_at("10.97.77.10");
  cluster.roll_api_servers(1, 1);
  cluster.pass(1h);
  cluster.pass(4min);
  EXPECT_EQ(cluster.used_key(), cluster.first_key());
  cluster.pass(1min);
  EXPECT_NE(cluster.used_key(), cluster.first_key());
}

TEST(AccountKey, StaysWhileTheBootstrapServes) {
  Cluster cluster;
  cluster.complete_installation();
  cluster.roll_api_servers(1, 1);
  cluster.serve_at("10.97.77.9");
  cluster.pass(24h);
  EXPECT_FALSE(cluster.has_next_key());
  cluster.serve_at("10.97.77.12");
  cluster.settle();
  EXPECT_TRUE(cluster.has_next_key());
}

TEST(AccountKey, StaysUntilTheInstallationIsComplete) {
  Cluster cluster;
  cluster.serve_at("10.97.77.10");
  cluster.roll_api_servers(1, 1);
  cluster.pass(24h);
  EXPECT_FALSE(cluster.has_next_key());
}

TEST(AccountKey, DoesNotGoBackWhenItIsLost) {
  Cluster cluster;
  cluster.complete_installation();
  cluster.serve_at("10.97.77.10");
  cluster.roll_api_servers(1, 1);
  cluster.pass(1h);
  cluster.pass(5min);
  const std::string second = cluster.used_key();
  EXPECT_NE(second, cluster.first_key());
  cluster.view.remove(secrets, space, "service-account-private-key");
  cluster.settle();
  EXPECT_EQ(cluster.used_key(), second);
  EXPECT_FALSE(cluster.has_revision(3));
}

}  // namespace
}  // namespace slipway::components::kube_controller_manager
