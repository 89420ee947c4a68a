#include "components/metrics_server/operator.h"

#include "kube/conditions.h"
#include "support/workload_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::metrics_server {
namespace {

using kube::types::api_services;
using kube::types::config_maps;
using kube::types::deployments;
using kube::types::secrets;

struct Cluster : testing_support::WorkloadCluster {
  explicit Cluster(const std::string& state = "Completed")
      : WorkloadCluster(make_operator("r/metrics-server@sha256:1", "openshift-config-operator")) {
    put("{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, status: {history: [{state: " +
        state + "}]}}");
    put("{apiVersion: v1, kind: ConfigMap, metadata: {name: kubelet-serving-ca, namespace: openshift-config-managed}, data: "
        "{ca-bundle.crt: authorities}}");
    put("{apiVersion: v1, kind: Secret, metadata: {name: metrics-server-client-cert-key, namespace: openshift-config-managed}, "
        "type: kubernetes.io/tls, data: {tls.crt: YQ==, tls.key: Yg==}}");
  }

  // changed: since when pods are available, or are not. The Deployment is an hour old.
  void set_pods(int pods, WallTime changed) { set_pods(pods, changed, changed - std::chrono::hours(1)); }
  void set_pods(int pods, WallTime changed, WallTime created) {
    put(fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: metrics-server, namespace: "
                    "openshift-metrics-server, generation: 1, creationTimestamp: '{}'}}, spec: {{replicas: 1}}, "
                    "status: {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: {}, conditions: "
                    "[{{type: Available, status: '{}', lastTransitionTime: '{}'}}]}}}}",
                    to_rfc3339(created), pods, pods > 0 ? "True" : "False", to_rfc3339(changed)));
  }
  void set_served(bool is_served) {
    put(fmt::format("{{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {{name: v1beta1.metrics.k8s.io}}, "
                    "status: {{conditions: [{{type: Available, status: '{}', message: no answer, lastTransitionTime: '{}'}}]}}}}",
                    is_served ? "True" : "False", to_rfc3339(now)));
  }
  const DesiredObject* desired(const kube::ResourceType& type) {
    planned = desired_state();
    const auto found = std::ranges::find(planned.plan.desired_objects, type, &DesiredObject::type);
    return found == planned.plan.desired_objects.end() ? nullptr : &*found;
  }
  DesiredObject::How registration() {
    const DesiredObject* found = desired(api_services);
    EXPECT_TRUE(found);
    return found ? found->how : DesiredObject::How::create;
  }
  std::string told(std::string_view type) {
    for (const Condition& each : desired_state().conditions) {
      if (each.type == fmt::format("MetricsServer{}", type))
        return fmt::format("{} {}: {}", each.is_true ? "True" : "False", each.reason, each.message);
    }
    return "";
  }

  DesiredState planned;
};

TEST(MetricsServer, StartsAfterTheInstallation) {
  Cluster cluster("Partial");
  EXPECT_TRUE(cluster.desired_state().plan.desired_objects.empty());
  EXPECT_EQ(cluster.told("Available"), "True AfterInstallation: metrics-server starts when the installation is complete");
  EXPECT_EQ(cluster.told("Progressing"), "False AsExpected: ");
  // An update does not stop it.
  cluster.put(
      "{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, status: {history: "
      "[{state: Partial}, {state: Completed}]}}");
  EXPECT_TRUE(cluster.desired(deployments));
}

TEST(MetricsServer, KnowsKubeletsByTheirCertificatesAndShowsItsOwn) {
  Cluster cluster;
  const DesiredObject* pods = cluster.desired(deployments);
  ASSERT_TRUE(pods);
  const Json& container = find_array(pods->object, {"spec", "template", "spec", "containers"}).at(0);
  EXPECT_EQ(text_of(container, {"image"}), "r/metrics-server@sha256:1");
  for (const Json& argument : find_array(container, {"args"})) EXPECT_NE(argument, Json("--kubelet-insecure-tls"));
  const DesiredObject* copied = cluster.desired(config_maps);
  ASSERT_TRUE(copied);
  EXPECT_EQ(text_of(copied->object, {"metadata", "namespace"}), "openshift-metrics-server");
  EXPECT_EQ(text_of(copied->object, {"data", "ca-bundle.crt"}), "authorities");
  const DesiredObject* shown = cluster.desired(secrets);
  ASSERT_TRUE(shown);
  EXPECT_EQ(text_of(shown->object, {"metadata", "namespace"}), "openshift-metrics-server");
  EXPECT_EQ(text_of(shown->object, {"type"}), "kubernetes.io/tls");
  EXPECT_EQ(text_of(shown->object, {"data", "tls.key"}), "Yg==");
  cluster.view.remove(secrets, "openshift-config-managed", "metrics-server-client-cert-key");
  EXPECT_EQ(cluster.work.desired_state(cluster.view.snapshot(), cluster.now).error().message(),
            "Secret openshift-config-managed/metrics-server-client-cert-key, which the kube-apiserver operator creates, does not "
            "exist");
}

TEST(MetricsServer, IsRegisteredWhenItCanAnswer) {
  Cluster cluster;
  const WallTime created = cluster.now;
  EXPECT_EQ(cluster.registration(), DesiredObject::How::remove);
  EXPECT_EQ(cluster.told("Available"), "True Starting: Deployment openshift-metrics-server/metrics-server is being created");
  cluster.set_pods(0, created, created);
  EXPECT_EQ(cluster.registration(), DesiredObject::How::remove);
  EXPECT_EQ(cluster.told("Available"),
            "True Starting: Deployment openshift-metrics-server/metrics-server: 0 of 1 pods are available");
  EXPECT_EQ(cluster.told("Progressing"), "False AsExpected: ") << "nobody waits for the first start";
  EXPECT_EQ(cluster.desired_state().plan.replan_at, created + outage_limit);
  cluster.set_pods(1, created, created);
  EXPECT_EQ(cluster.registration(), DesiredObject::How::apply);
  cluster.set_served(false);
  EXPECT_EQ(cluster.told("Available"), "True Starting: APIService v1beta1.metrics.k8s.io: no answer");
  EXPECT_EQ(cluster.told("Progressing"), "False AsExpected: ") << "the start ends with the first answer";
  cluster.set_served(true);
  EXPECT_EQ(cluster.told("Progressing"), "False AsExpected: ");
  EXPECT_EQ(cluster.told("Available"), "True AsExpected: ");
  EXPECT_FALSE(cluster.desired_state().plan.replan_at);
}

TEST(MetricsServer, IsUnavailableIfItDoesNotStart) {
  Cluster cluster;
  cluster.set_pods(0, cluster.now, cluster.now);
  cluster.now += outage_limit;
  EXPECT_EQ(cluster.told("Available"),
            "False NoPodAvailable: Deployment openshift-metrics-server/metrics-server: 0 of 1 pods are available");
}

TEST(MetricsServer, IsNotRegisteredAfterALongOutage) {
  Cluster cluster;
  cluster.set_served(true);
  const WallTime lost = cluster.now;
  cluster.set_pods(0, lost);
  EXPECT_EQ(cluster.registration(), DesiredObject::How::apply) << "its pod moves to another master";
  EXPECT_EQ(cluster.told("Available"), "True AsExpected: ");
  EXPECT_EQ(cluster.told("Progressing").substr(0, 4), "True");
  EXPECT_EQ(cluster.planned.plan.replan_at, lost + outage_limit);
  cluster.now = lost + outage_limit;
  EXPECT_EQ(cluster.registration(), DesiredObject::How::remove);
  const std::string message = "Deployment openshift-metrics-server/metrics-server: 0 of 1 pods are available";
  EXPECT_EQ(cluster.told("Available"), "False NoPodAvailable: " + message);
  cluster.view.remove(api_services, "", "v1beta1.metrics.k8s.io");
  EXPECT_EQ(cluster.told("Available"), "False NoPodAvailable: " + message);
  cluster.set_pods(1, cluster.now);
  EXPECT_EQ(cluster.registration(), DesiredObject::How::apply);
}

TEST(MetricsServer, IsUnavailableWhenTheApiServerGetsNoAnswer) {
  Cluster cluster;
  cluster.set_pods(1, cluster.now);
  cluster.set_served(false);
  EXPECT_EQ(cluster.told("Available"), "True AsExpected: ");
  EXPECT_EQ(cluster.told("Progressing"), "True NotServed: APIService v1beta1.metrics.k8s.io: no answer");
  cluster.now += outage_limit;
  EXPECT_EQ(cluster.told("Available"), "False NotServed: APIService v1beta1.metrics.k8s.io: no answer");
  EXPECT_EQ(cluster.registration(), DesiredObject::How::apply);
}

}  // namespace
}  // namespace slipway::components::metrics_server
