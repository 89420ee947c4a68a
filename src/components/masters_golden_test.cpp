// Compares the pods and configs that the operators of the control plane create for masters with
// tests/golden/components/masters.yaml. tests/component/security reads that file.
#include "base/yaml.h"
#include "components/etcd/operator.h"
#include "components/kube_apiserver/operator.h"
#include "components/kube_controller_manager/operator.h"
#include "components/kube_scheduler/operator.h"
#include "net/curl_http.h"
#include "support/golden.h"
#include "support/rendered_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

using namespace testing_support;
using kube::types::config_maps;
using kube::types::secrets;

struct Cluster : RenderedCluster {
  // Copies the objects that the etcd operator creates for the kube-apiserver operator.
  Cluster() {
    const auto from_etcd = [this](const kube::ResourceType& type, std::string_view name, std::string_view key) {
      return text(type, "openshift-etcd", name, key);
    };
    put(config_map({"openshift-config", "etcd-serving-ca"},
                   {{"ca-bundle.crt", from_etcd(config_maps, "etcd-ca-bundle", "ca-bundle.crt")}}));
    put(secret(
        {"openshift-config", "etcd-client"}, "kubernetes.io/tls",
        {{"tls.crt", from_etcd(secrets, "etcd-client", "tls.crt")}, {"tls.key", from_etcd(secrets, "etcd-client", "tls.key")}}));
  }

  void settle(const StaticPodOperator& work) {
    put({{"apiVersion", "operator.openshift.io/v1"},
         {"kind", work.operand.settings.kind},
         {"metadata", {{"name", "cluster"}}},
         {"spec", {{"managementState", "Managed"}}}});
    RenderedCluster::settle(work, variables);
  }

  const OperatorVariables variables = testing_support::operator_variables("operand");
};

TEST(Masters, RunThePodsOfTheGoldenFile) {
  Cluster cluster;
  net::CurlHttp http;
  cluster.settle(etcd::make_operator(cluster.variables, http));
  cluster.settle(kube_apiserver::make_operator(cluster.variables));
  cluster.settle(kube_controller_manager::make_operator(cluster.variables, "registry.example.com/policy@sha256:3"));
  cluster.settle(kube_scheduler::make_operator(cluster.variables));
  const struct {
    std::string_view space, name, key;
  } documents[] = {{"openshift-etcd", "etcd-pod", "pod.yaml"},
                   {"openshift-kube-apiserver", "config", "config.yaml"},
                   {"openshift-kube-apiserver", "kube-apiserver-audit-policies", "policy.yaml"},
                   {"openshift-kube-apiserver", "kube-apiserver-pod", "pod.yaml"},
                   {"openshift-kube-controller-manager", "cluster-policy-controller-config", "config.yaml"},
                   {"openshift-kube-controller-manager", "config", "config.yaml"},
                   {"openshift-kube-controller-manager", "kube-controller-manager-pod", "pod.yaml"},
                   {"openshift-kube-scheduler", "config", "config.yaml"},
                   {"openshift-kube-scheduler", "kube-scheduler-pod", "pod.yaml"}};
  JsonObject all;
  for (const auto& [space, name, key] : documents) {
    all[fmt::format("{}/{}", space, name)] = cluster.document(space, name, key);
  }
  expect_golden("components/masters.yaml", emit_yaml(all));
}

}  // namespace
}  // namespace slipway::components
