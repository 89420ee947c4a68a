#include "components/kube_scheduler/operator.h"

#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_scheduler {
namespace {

using kube::types::config_maps;
using testing_support::StaticPodCluster;

constexpr std::string_view space = "openshift-kube-scheduler";
const OperatorVariables variables = testing_support::operator_variables();

struct Cluster : StaticPodCluster {
  Cluster() : StaticPodCluster(make_operator(variables), variables) {}
  void choose(std::string_view profile) {
    put({{"apiVersion", "config.openshift.io/v1"},
         {"kind", "Scheduler"},
         {"metadata", {{"name", "cluster"}}},
         {"spec", {{"profile", profile}}}});
  }
};

TEST(SchedulerOperator, CreatesOneRevisionFromTheRenderedObjects) {
  Cluster cluster;
  testing_support::expect_one_revision(cluster);
}

TEST(SchedulerOperator, SharesTheLeaseOfTheTemporaryScheduler) {
  Cluster cluster;
  cluster.settle();
  const Json config = cluster.document(space, "config", "config.yaml");
  EXPECT_EQ(find_string(config, {"kind"}), "KubeSchedulerConfiguration");
  EXPECT_EQ(find_string(config, {"leaderElection", "resourceNamespace"}), "kube-system");
  EXPECT_EQ(find_string(config, {"leaderElection", "resourceName"}), "kube-scheduler");
  EXPECT_EQ(find(config, {"profiles"}), nullptr);
}

TEST(SchedulerOperator, GivesThePodItsGatesAndARevision) {
  Cluster cluster;
  cluster.settle();
  const std::string text = cluster.text(config_maps, space, "kube-scheduler-pod", "pod.yaml");
  EXPECT_NE(text.find("--feature-gates=ImageVolume=true,OpenShiftPodSecurityAdmission=true,RouteExternalCertificate=false\n"),
            std::string::npos)
      << text;
  // The installer pod replaces the placeholder with a number, which has to stay a string.
  EXPECT_NE(text.find("revision: \"REVISION\"\n"), std::string::npos);
}

TEST(SchedulerOperator, AppliesProfiles) {
  const struct {
    std::string profile;
    std::string sign;  // text that the config must contain
    bool is_known = true;
  } cases[] = {{"LowNodeUtilization", "enableProfiling"},
               {"HighNodeUtilization", "MostAllocated"},
               {"NoScoring", "preScore"},
               {"Other", "enableProfiling", false}};
  for (const auto& each : cases) {
    Cluster cluster;
    cluster.choose(each.profile);
    cluster.settle();
    EXPECT_NE(cluster.text(config_maps, space, "config", "config.yaml").find(each.sign), std::string::npos) << each.profile;
    const Target target = cluster.target();
    ASSERT_EQ(target.conditions.size(), 1u);
    EXPECT_EQ(target.conditions[0].is_true, !each.is_known) << each.profile;
  }
}

TEST(SchedulerOperator, RollsOutAnotherProfile) {
  Cluster cluster;
  cluster.settle();
  cluster.choose("NoScoring");
  cluster.settle();
  EXPECT_TRUE(cluster.has_revision(2));
}

TEST(SchedulerOperator, ReportsWhatIsMissing) {
  const testing_support::NeededInput cases[] = {
      {{"config.openshift.io", "v1", "schedulers", "Scheduler", false},
       "",
       "cluster",
       "Scheduler cluster, which the installer creates"},
      {config_maps, "openshift-config-managed", "kube-apiserver-server-ca",
       "ConfigMap openshift-config-managed/kube-apiserver-server-ca, which the kube-apiserver operator creates"},
      {kube::types::secrets, "openshift-config-managed", "kube-scheduler-client-cert-key",
       "Secret openshift-config-managed/kube-scheduler-client-cert-key, which the kube-apiserver operator creates"},
  };
  for (const auto& each : cases) {
    const std::vector<std::string> missing = testing_support::missing_without<Cluster>(each);
    EXPECT_EQ(missing, std::vector<std::string>{each.line});
  }
}

}  // namespace
}  // namespace slipway::components::kube_scheduler
