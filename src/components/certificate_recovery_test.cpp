#include "components/certificate_recovery/recovery.h"

#include "components/kube_apiserver/operator.h"
#include "components/kube_controller_manager/operator.h"
#include "components/kube_scheduler/operator.h"
#include "net/x509.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace slipway::components::certificate_recovery {
namespace {

using kube::types::config_maps;
using kube::types::secrets;
using testing_support::RenderedCluster;

const OperatorVariables variables = testing_support::operator_variables();

struct Cluster : RenderedCluster {
  std::vector<StaticPodOperator> works = {kube_apiserver::make_operator(variables),
                                          kube_controller_manager::make_operator(variables, "x"),
                                          kube_scheduler::make_operator(variables)};

  Cluster() {
    for (const char* kind : {"KubeAPIServer", "KubeControllerManager", "KubeScheduler"}) {
      put({{"apiVersion", "operator.openshift.io/v1"},
           {"kind", kind},
           {"metadata", {{"name", "cluster"}}},
           {"spec", {{"managementState", "Managed"}}}});
    }
    const std::string ca = text(config_maps, "openshift-etcd", "etcd-ca-bundle", "ca-bundle.crt");
    put(config_map({"openshift-config", "etcd-serving-ca"}, {{"ca-bundle.crt", ca}}));
    put(secret({"openshift-config", "etcd-client"}, "kubernetes.io/tls",
               {{"tls.crt", text(secrets, "openshift-etcd", "etcd-client", "tls.crt")},
                {"tls.key", text(secrets, "openshift-etcd", "etcd-client", "tls.key")}}));
    // The state that the operators create.
    for (int rounds = 0; rounds < 3; ++rounds) {
      for (const StaticPodOperator& work : works) settle(work, variables);
    }
  }

  // Executes the plans of all three operators until no plan changes anything.
  int recover() {
    for (int rounds = 0; rounds < 30; ++rounds) {
      int count = 0;
      for (const StaticPodOperator& work : works) {
        const Result<Plan> plan = plan_recovery(work, view.snapshot(), now);
        EXPECT_TRUE(plan.ok()) << plan.error().message();
        if (plan.ok()) count += play(plan.value());
      }
      if (count == 0) return rounds;
    }
    ADD_FAILURE() << "the plans never settle";
    return 30;
  }

  // Certificates that masters use, by NAMESPACE/NAME.
  std::map<std::string, net::CertificateInfo> certificates() const {
    std::map<std::string, net::CertificateInfo> found;
    for (const StaticPodOperator& work : works) {
      for (const Part& part : work.operand.unversioned) {
        if (part.kind != Part::Kind::secret) continue;
        const auto info = net::parse_certificate(text(secrets, work.operand.space, part.name, "tls.crt"));
        if (info.ok()) found.emplace(work.operand.space + "/" + part.name, info.value());
      }
    }
    return found;
  }

  std::set<std::string> revisions() const {
    std::set<std::string> found;
    for (const Json* each : view.snapshot().list(config_maps)) {
      if (kube::name_of(*each).starts_with("revision-status-")) found.emplace(kube::describe(*each));
    }
    return found;
  }
};

TEST(CertificateRecovery, ReplacesOnlyExpiredCertificates) {
  Cluster cluster;
  const auto before = cluster.certificates();
  EXPECT_GT(before.size(), 10u);
  EXPECT_EQ(cluster.recover(), 0) << "what is valid is left alone";

  // Longer than the lifetime of the authority for the control plane's clients.
  cluster.now += std::chrono::hours(24 * 100);
  const std::string pod = cluster.text(config_maps, "openshift-kube-apiserver", "kube-apiserver-pod", "pod.yaml");
  const std::set<std::string> revisions = cluster.revisions();
  EXPECT_GT(cluster.recover(), 0);
  int replaced = 0;
  for (const auto& [name, info] : cluster.certificates()) {
    EXPECT_GT(info.not_after, cluster.now) << name;
    replaced += info.serial != before.at(name).serial;
  }
  EXPECT_GT(replaced, 8);
  EXPECT_EQ(cluster.text(config_maps, "openshift-kube-apiserver", "kube-apiserver-pod", "pod.yaml"), pod);
  EXPECT_EQ(cluster.revisions(), revisions);
}

TEST(CertificateRecovery, PlansNothingWithoutSettings) {
  const StaticPodOperator work = kube_apiserver::make_operator(variables);
  View empty;
  EXPECT_TRUE(plan_recovery(work, empty.snapshot(), WallTime{})->desired_objects.empty());
}

}  // namespace
}  // namespace slipway::components::certificate_recovery
