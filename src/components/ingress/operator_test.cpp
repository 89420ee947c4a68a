#include "components/ingress/operator.h"

#include "base/digest.h"
#include "components/controller/certificate_rotation.h"
#include "components/controller/operand.h"
#include "components/ingress/certificates.h"
#include "components/ingress/router.h"
#include "components/ingress/status.h"
#include "kube/conditions.h"
#include "support/workload_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace slipway::components::ingress {
namespace {

using kube::types::config_maps;
using kube::types::deployments;
using kube::types::ingress_controllers;
using kube::types::secrets;
using kube::types::services;
using Names = std::vector<std::string>;

const WallTime noon{Milliseconds(1'795'262'400'000)};

// A cluster with two workers, to which the objects of plans can be applied.
struct Cluster : testing_support::WorkloadCluster {
  Cluster() : WorkloadCluster(make_operator("r/router@sha256:1")) {
    cluster_says("Workers", "HighlyAvailable");
    put("{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, status: {apiServerInternalURI: "
        "'https://api-int.demo.example.com:6443', controlPlaneTopology: HighlyAvailable, infrastructureTopology: "
        "HighlyAvailable}}");
    add_node("worker-0", "worker");
    add_node("worker-1", "worker");
    add_node("master-0", "master");
  }

  void cluster_says(const std::string& placement, const std::string& topology) {
    put("{apiVersion: config.openshift.io/v1, kind: Ingress, metadata: {name: cluster}, spec: {domain: apps.demo.example.com}, "
        "status: {defaultPlacement: " +
        placement + "}}");
    put("{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, status: {apiServerInternalURI: "
        "'https://api-int.demo.example.com:6443', controlPlaneTopology: " +
        topology + ", infrastructureTopology: " + topology + "}}");
  }
  void add_node(const std::string& name, const std::string& role) {
    put("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {kubernetes.io/os: linux, node-role.kubernetes.io/" +
        role + ": ''}}}");
  }
  void set(const std::string& name, const std::string& spec, const std::string& status = "{}") {
    put("{apiVersion: operator.openshift.io/v1, kind: IngressController, metadata: {namespace: openshift-ingress-operator, "
        "name: " +
        name + ", generation: 1}, spec: " + spec + ", status: " + status + "}");
  }
  // Applies plans until a plan changes nothing. Returns the number of rounds.
  int settle() {
    for (int round = 0; round < 10; ++round) {
      const Snapshot seen = view.snapshot();
      bool has_written = false;
      for (const DesiredObject& desired : desired_state().plan.desired_objects) {
        if (is_fulfilled(desired, seen)) continue;
        has_written = true;
        if (desired.how == DesiredObject::How::remove) {
          view.remove(desired.type, kube::namespace_of(desired.object), kube::name_of(desired.object));
        } else {
          put_desired(desired, seen);
        }
      }
      if (!has_written) return round;
    }
    ADD_FAILURE() << "never settles";
    return 0;
  }
  // Sets the status of a Deployment as its controller would, with this number of available pods.
  void set_deployment_status(const std::string& name, int available, const std::string& progressing = "NewReplicaSetAvailable") {
    Json deployment = *find(deployments, router_space, name);
    const int wanted = integer_of(deployment, {"spec", "replicas"});
    deployment.as_object()["status"] = {
        {"observedGeneration", 1},
        {"replicas", wanted},
        {"updatedReplicas", wanted},
        {"availableReplicas", available},
        {"conditions", JsonArray{{{"type", "Progressing"},
                                  {"status", progressing == "ProgressDeadlineExceeded" ? "False" : "True"},
                                  {"reason", progressing},
                                  {"message", "of the Deployment"}}}}};
    view.put(deployment);
  }
  const Json* find(const kube::ResourceType& type, std::string_view space, std::string_view name) {
    seen_ = view.snapshot();
    return seen_->find(type, space, name);
  }
  const Json& controller(std::string_view name) { return *find(ingress_controllers, operator_space, name); }
  std::string condition(std::string_view controller_name, std::string_view type) {
    return std::string(kube::condition_status(controller(controller_name), type));
  }
  std::string message(std::string_view controller_name, std::string_view type) {
    for (const Json& each : find_array(controller(controller_name), {"status", "conditions"})) {
      if (find_string(each, {"type"}) == type) return text_of(each, {"message"});
    }
    return "";
  }
  const Json& pod(std::string_view controller_name) {
    return *slipway::find(*find(deployments, router_space, deployment_name(controller_name)), {"spec", "template", "spec"});
  }
  std::string variable(std::string_view controller_name, std::string_view name) {
    for (const Json& each : find_array(find_array(pod(controller_name), {"containers"}).at(0), {"env"})) {
      if (find_string(each, {"name"}) == name) return text_of(each, {"value"});
    }
    return "";
  }
  std::string status_of(std::string_view type) const {
    for (const Condition& each : desired_state().conditions) {
      if (each.type == type) return each.is_true ? "True" : "False";
    }
    return "";
  }

 private:
  void put_desired(const DesiredObject& desired, const Snapshot& seen) {
    Json object = desired.object;
    const Json* known = seen.find(desired.type, kube::namespace_of(object), kube::name_of(object));
    if (desired.type == deployments) {
      object.as_object()["metadata"].as_object()["generation"] = 1;
      if (known) object.as_object()["status"] = find_object(*known, {"status"});
    }
    if (desired.type == secrets && !find_object(object, {"metadata", "annotations"}).empty() && known) {
      // The rotation only replaces certificates that are due.
      ++renewed;
    }
    view.put(std::move(object));
  }
  std::optional<Snapshot> seen_;

 public:
  int renewed = 0;
};

TEST(IngressOperator, CreatesTheDefaultControllerAndItsRouters) {
  Cluster cluster;
  EXPECT_EQ(cluster.status_of("IngressAvailable"), "False");
  EXPECT_EQ(cluster.status_of("IngressProgressing"), "True");
  cluster.settle();
  const Json& deployment = *cluster.find(deployments, router_space, "router-default");
  EXPECT_EQ(integer_of(deployment, {"spec", "replicas"}), 2);
  EXPECT_EQ(find_object(cluster.pod("default"), {"nodeSelector"}),
            (JsonObject{{"node-role.kubernetes.io/worker", ""}, {"kubernetes.io/os", "linux"}}));
  EXPECT_TRUE(find_array(cluster.pod("default"), {"tolerations"}).empty());
  EXPECT_EQ(*find(cluster.pod("default"), {"hostNetwork"}), Json(true));
  EXPECT_EQ(text_of(find_array(cluster.pod("default"), {"containers"}).at(0), {"image"}), "r/router@sha256:1");
  EXPECT_EQ(text_of(find_array(cluster.pod("default"), {"volumes"}).at(0), {"secret", "secretName"}), "router-certs-default");
  for (const auto& [name, value] : {std::pair{"ROUTER_SERVICE_NAME", "default"},
                                    {"ROUTER_DOMAIN", "apps.demo.example.com"},
                                    {"ROUTER_CANONICAL_HOSTNAME", "router-default.apps.demo.example.com"},
                                    {"ROUTER_SERVICE_HTTP_PORT", "80"},
                                    {"STATS_PORT", "1936"},
                                    {"KUBERNETES_SERVICE_HOST", "api-int.demo.example.com"},
                                    {"KUBERNETES_SERVICE_PORT", "6443"},
                                    {"ROUTE_LABELS", ""}}) {
    EXPECT_EQ(cluster.variable("default", name), value) << name;
  }
  EXPECT_NE(cluster.find(services, router_space, "router-internal-default"), nullptr);
  EXPECT_EQ(cluster.find(services, router_space, "router-nodeport-default"), nullptr);

  const Json& controller = cluster.controller("default");
  EXPECT_EQ(text_of(controller, {"status", "domain"}), "apps.demo.example.com");
  EXPECT_EQ(text_of(controller, {"status", "endpointPublishingStrategy", "type"}), "HostNetwork");
  EXPECT_EQ(text_of(controller, {"status", "selector"}),
            "ingresscontroller.operator.openshift.io/deployment-ingresscontroller=default");
  EXPECT_EQ(cluster.condition("default", "Admitted"), "True");
  EXPECT_EQ(cluster.status_of("IngressAvailable"), "False");
  EXPECT_EQ(cluster.status_of("IngressProgressing"), "True");
  EXPECT_EQ(cluster.status_of("IngressDegraded"), "False");

  cluster.set_deployment_status("router-default", 2);
  cluster.settle();
  EXPECT_EQ(cluster.status_of("IngressAvailable"), "True");
  EXPECT_EQ(cluster.status_of("IngressProgressing"), "False");
  for (const auto& [type, status] : {std::pair{"DeploymentAvailable", "True"},
                                     {"DeploymentReplicasMinAvailable", "True"},
                                     {"DeploymentReplicasAllAvailable", "True"},
                                     {"DeploymentRollingOut", "False"},
                                     {"PodsScheduled", "True"},
                                     {"LoadBalancerManaged", "False"},
                                     {"DNSManaged", "False"},
                                     {"SettingsIgnored", "False"},
                                     {"Available", "True"},
                                     {"Degraded", "False"}}) {
    EXPECT_EQ(cluster.condition("default", type), status) << type;
  }
}

TEST(IngressOperator, CreatesNoRouterBeforeItsCertificate) {
  Cluster cluster;
  cluster.set("default", "{}");
  for (const DesiredObject& desired : cluster.desired_state().plan.desired_objects) EXPECT_NE(desired.type, deployments);
}

TEST(IngressOperator, NeedsTheInstallersObjects) {
  Cluster cluster;
  cluster.view.remove(kube::types::ingresses, "", "cluster");
  const Result<DesiredState> made = cluster.work.desired_state(cluster.view.snapshot(), noon);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("Ingress.config.openshift.io cluster"), std::string::npos);
}

TEST(IngressOperator, PlansNoMoreRoutersThanMachinesUnlessConfigured) {
  struct Case {
    const char* placement;
    const char* topology;
    const char* spec;
    int expected;
  };
  const Case cases[] = {
      {"Workers", "HighlyAvailable", "{}", 2},
      {"Workers", "SingleReplica", "{}", 1},
      {"ControlPlane", "HighlyAvailable", "{}", 1},  // there is one master
      {"Workers", "HighlyAvailable", "{replicas: 3}", 3},
      {"Workers", "HighlyAvailable", "{replicas: 0}", 0},
      {"Workers", "HighlyAvailable", "{nodePlacement: {nodeSelector: {matchLabels: {zone: nowhere}}}}", 1},
      {"Workers", "HighlyAvailable", "{nodePlacement: {nodeSelector: {matchLabels: {kubernetes.io/os: linux}}}}", 2},
  };
  for (const Case& one : cases) {
    Cluster cluster;
    cluster.cluster_says(one.placement, one.topology);
    cluster.set("default", one.spec);
    cluster.settle();
    EXPECT_EQ(integer_of(*cluster.find(deployments, router_space, "router-default"), {"spec", "replicas"}), one.expected)
        << one.placement << " " << one.topology << " " << one.spec;
  }
}

TEST(IngressOperator, DisruptionBudgetAllowsHalfOfTheRouters) {
  for (const auto& [spec, expected] : {std::pair{"{replicas: 4}", Json("50%")}, {"{replicas: 1}", Json(1)}}) {
    Cluster cluster;
    cluster.set("default", spec);
    cluster.settle();
    EXPECT_EQ(
        *find(*cluster.find(kube::types::pod_disruption_budgets, router_space, "router-default"), {"spec", "maxUnavailable"}),
        expected);
  }
}

TEST(IngressOperator, ToleratesTheTaintOfTheControlPlane) {
  Cluster cluster;
  cluster.cluster_says("ControlPlane", "SingleReplica");
  cluster.settle();
  EXPECT_NE(find(cluster.pod("default"), {"nodeSelector", "node-role.kubernetes.io/master"}), nullptr);
  EXPECT_EQ(find_array(cluster.pod("default"), {"tolerations"}).size(), 2u);
}

TEST(IngressOperator, PassesSettingsToRouters) {
  Cluster cluster;
  cluster.set("shard", R"({domain: s.example.com, routeSelector: {matchLabels: {b: "1", a: "2"}},
    namespaceSelector: {matchExpressions: [{key: c, operator: In, values: [x, y]}, {key: d, operator: DoesNotExist}]},
    routeAdmission: {namespaceOwnership: InterNamespaceAllowed}, tlsSecurityProfile: {type: Modern, modern: {}},
    tuningOptions: {threadCount: 2, maxConnections: 5000, clientTimeout: 1m30s, tunnelTimeout: 9999h},
    endpointPublishingStrategy: {type: HostNetwork, hostNetwork: {httpPort: 8080, httpsPort: 8443, statsPort: 8936}}})");
  cluster.settle();
  for (const auto& [name, value] : {std::pair{"ROUTE_LABELS", "a=2,b=1"},
                                    {"NAMESPACE_LABELS", "!d,c in (x,y)"},
                                    {"ROUTER_DISABLE_NAMESPACE_OWNERSHIP_CHECK", "true"},
                                    {"ROUTER_THREADS", "2"},
                                    {"ROUTER_MAX_CONNECTIONS", "5000"},
                                    {"ROUTER_DEFAULT_CLIENT_TIMEOUT", "90000ms"},
                                    {"ROUTER_DEFAULT_TUNNEL_TIMEOUT", "2147483647ms"},
                                    {"SSL_MIN_VERSION", "TLSv1.3"},
                                    {"ROUTER_SERVICE_HTTPS_PORT", "8443"},
                                    {"STATS_PORT", "8936"},
                                    {"ROUTER_CANONICAL_HOSTNAME", "router-shard.s.example.com"},
                                    {"ROUTER_DOMAIN", "apps.demo.example.com"}}) {
    EXPECT_EQ(cluster.variable("shard", name), value) << name;
  }
  EXPECT_EQ(cluster.condition("shard", "SettingsIgnored"), "False");
  EXPECT_EQ(text_of(cluster.controller("shard"), {"status", "routeSelector", "matchLabels", "a"}), "2");
}

TEST(IngressOperator, SupportsOtherPublishingStrategies) {
  Cluster cluster;
  cluster.set("b", "{domain: b.example.com, endpointPublishingStrategy: {type: NodePortService}}");
  cluster.set("c", "{domain: c.example.com, endpointPublishingStrategy: {type: Private}}");
  cluster.settle();
  EXPECT_NE(cluster.find(services, router_space, "router-nodeport-b"), nullptr);
  EXPECT_EQ(cluster.find(services, router_space, "router-nodeport-c"), nullptr);
  for (const char* name : {"b", "c"}) {
    EXPECT_EQ(find(cluster.pod(name), {"hostNetwork"}), nullptr) << name;
    EXPECT_EQ(cluster.variable(name, "KUBERNETES_SERVICE_HOST"), "") << name;
    EXPECT_EQ(cluster.variable(name, "ROUTER_SERVICE_HTTP_PORT"), "80") << name;
  }
  // With another strategy the Service is deleted.
  cluster.set("b", "{domain: b.example.com, endpointPublishingStrategy: {type: Private}}", R"({domain: b.example.com})");
  cluster.settle();
  EXPECT_EQ(cluster.find(services, router_space, "router-nodeport-b"), nullptr);
  EXPECT_NE(cluster.find(services, router_space, "router-internal-b"), nullptr);
}

TEST(IngressOperator, RefusesUnsupportedSettings) {
  struct Case {
    const char* spec;
    const char* part;
  };
  const Case cases[] = {
      {"{domain: x.example.com, endpointPublishingStrategy: {type: LoadBalancerService}}", "creates no load balancers"},
      {"{domain: x.example.com, endpointPublishingStrategy: {type: HostNetwork, hostNetwork: {protocol: PROXY}}}", "PROXY"},
      {"{domain: x.example.com, endpointPublishingStrategy: {type: HostNetwork, hostNetwork: {httpPort: 443}}}", "differ"},
      {"{domain: x.example.com, clientTLS: {clientCertificatePolicy: Required, clientCA: {name: ca}}}", "clientTLS"},
      {"{domain: x.example.com, nodePlacement: {nodeSelector: {matchExpressions: [{key: a, operator: Exists}]}}}", "matchLabels"},
      {"{domain: x.example.com, tuningOptions: {clientTimeout: soon}}", "spec.tuningOptions.clientTimeout"},
      {"{}", "is the domain of IngressController default"},
  };
  for (const Case& one : cases) {
    Cluster cluster;
    cluster.set("a", one.spec);
    cluster.set("default", "{}", "{conditions: [{type: Admitted, status: 'True'}]}");
    cluster.settle();
    EXPECT_EQ(cluster.condition("a", "Admitted"), "False") << one.spec;
    EXPECT_NE(cluster.message("a", "Admitted").find(one.part), std::string::npos) << cluster.message("a", "Admitted");
    EXPECT_EQ(cluster.condition("a", "Available"), "False");
    EXPECT_EQ(cluster.condition("a", "Progressing"), "False");
    EXPECT_EQ(cluster.condition("a", "Degraded"), "True");
    EXPECT_EQ(cluster.find(deployments, router_space, "router-a"), nullptr);
    EXPECT_EQ(cluster.find(secrets, router_space, "router-certs-a"), nullptr);
    // The default controller is not affected.
    cluster.set_deployment_status("router-default", 2);
    EXPECT_EQ(cluster.status_of("IngressAvailable"), "True");
    EXPECT_EQ(cluster.status_of("IngressDegraded"), "False");
  }
}

TEST(IngressOperator, ReportsIgnoredSettings) {
  Cluster cluster;
  cluster.set("default", R"({closedClientConnectionPolicy: Continue, httpEmptyRequestsPolicy: Ignore,
    idleConnectionTerminationPolicy: Immediate, httpErrorCodePages: {name: ""}, httpHeaders: {}, clientTLS:
    {clientCA: {name: ""}, clientCertificatePolicy: ""}, logging: {access: {destination: {type: Container}}},
    tlsSecurityProfile: {type: Old, old: {}}, routeAdmission: {wildcardPolicy: WildcardsAllowed}})");
  cluster.settle();
  EXPECT_EQ(cluster.message("default", "SettingsIgnored"),
            "no effect in this release: spec.httpEmptyRequestsPolicy, spec.logging, spec.routeAdmission.wildcardPolicy, "
            "spec.tlsSecurityProfile");
  EXPECT_EQ(cluster.condition("default", "Admitted"), "True");
}

TEST(IngressOperator, RoutersOfAControllerThatIsRefusedLaterStay) {
  Cluster cluster;
  cluster.settle();
  cluster.set_deployment_status("router-default", 2);
  Json changed = cluster.controller("default");
  changed.as_object()["spec"] = {{"endpointPublishingStrategy", {{"type", "LoadBalancerService"}}}};
  cluster.view.put(changed);
  cluster.settle();
  EXPECT_NE(cluster.find(deployments, router_space, "router-default"), nullptr);
  EXPECT_NE(cluster.find(secrets, router_space, "router-certs-default"), nullptr);
  EXPECT_EQ(cluster.status_of("IngressAvailable"), "True");
  EXPECT_EQ(cluster.status_of("IngressProgressing"), "False");
  EXPECT_EQ(cluster.status_of("IngressDegraded"), "True");
}

TEST(IngressOperator, RemovesObjectsOfADeletedController) {
  Cluster cluster;
  cluster.set("b", "{domain: b.example.com, endpointPublishingStrategy: {type: NodePortService}}");
  cluster.settle();
  // Objects of other owners.
  cluster.put("{apiVersion: v1, kind: Service, metadata: {name: router-nodeport-x, namespace: openshift-ingress}}");
  cluster.put("{apiVersion: v1, kind: Secret, metadata: {name: router-certs-x, namespace: openshift-ingress}}");
  ASSERT_NE(cluster.find(services, router_space, "router-nodeport-b"), nullptr);
  cluster.view.remove(ingress_controllers, operator_space, "b");
  cluster.settle();
  EXPECT_EQ(cluster.find(deployments, router_space, "router-b"), nullptr);
  EXPECT_EQ(cluster.find(services, router_space, "router-internal-b"), nullptr);
  EXPECT_EQ(cluster.find(services, router_space, "router-nodeport-b"), nullptr);
  EXPECT_EQ(cluster.find(kube::types::pod_disruption_budgets, router_space, "router-b"), nullptr);
  EXPECT_EQ(cluster.find(secrets, router_space, "router-certs-b"), nullptr);
  EXPECT_NE(cluster.find(services, router_space, "router-nodeport-x"), nullptr);
  EXPECT_NE(cluster.find(secrets, router_space, "router-certs-x"), nullptr);
  EXPECT_NE(cluster.find(deployments, router_space, "router-default"), nullptr);
}

TEST(IngressOperator, DomainOfServedRoutesStays) {
  Cluster cluster;
  cluster.set("default", "{domain: new.example.com}", "{domain: old.example.com}");
  cluster.settle();
  EXPECT_EQ(text_of(cluster.controller("default"), {"status", "domain"}), "old.example.com");
}

TEST(IngressOperator, RoutersWithAnotherSpecHaveAnotherLabel) {
  Cluster cluster;
  cluster.settle();
  const auto hash = [&] {
    return text_of(*cluster.find(deployments, router_space, "router-default"),
                   {"spec", "template", "metadata", "labels", "ingresscontroller.operator.openshift.io/hash"});
  };
  const std::string before = hash();
  EXPECT_EQ(before.size(), 10u);
  Json changed = cluster.controller("default");
  changed.as_object()["spec"] = {{"tuningOptions", {{"threadCount", 2}}}};
  cluster.view.put(changed);
  cluster.settle();
  EXPECT_NE(hash(), before);
  changed.as_object()["spec"] = {{"replicas", 5}};
  cluster.view.put(changed);
  cluster.settle();
  EXPECT_EQ(hash(), before);
}

TEST(IngressStatus, IsDegradedOnlyWhenRoutersAreUnavailableOrLate) {
  struct Case {
    int replicas, available;
    const char* progressing;
    const char* available_says;
    const char* least_says;
    const char* all_says;
    const char* degraded_says;
  };
  const Case cases[] = {
      {2, 2, "NewReplicaSetAvailable", "True", "True", "True", "False"},
      {2, 0, "ReplicaSetUpdated", "False", "False", "False", "False"},  // still starting
      {2, 1, "NewReplicaSetAvailable", "True", "True", "False", "False"},
      {2, 0, "NewReplicaSetAvailable", "False", "False", "False", "True"},
      {4, 3, "NewReplicaSetAvailable", "True", "True", "False", "False"},
      {4, 2, "NewReplicaSetAvailable", "True", "False", "False", "True"},
      {2, 1, "ProgressDeadlineExceeded", "True", "True", "False", "True"},
      {0, 0, "NewReplicaSetAvailable", "True", "True", "True", "False"},
  };
  for (const Case& one : cases) {
    Cluster cluster;
    cluster.set("default", fmt::format("{{replicas: {}}}", one.replicas));
    cluster.settle();
    cluster.set_deployment_status("router-default", one.available, one.progressing);
    cluster.settle();
    const std::string name = fmt::format("{} of {}, {}", one.available, one.replicas, one.progressing);
    EXPECT_EQ(cluster.condition("default", "Available"), one.available_says) << name;
    EXPECT_EQ(cluster.condition("default", "DeploymentReplicasMinAvailable"), one.least_says) << name;
    EXPECT_EQ(cluster.condition("default", "DeploymentReplicasAllAvailable"), one.all_says) << name;
    EXPECT_EQ(cluster.condition("default", "Degraded"), one.degraded_says) << name;
  }
}

TEST(IngressStatus, ContainsTheMessageOfTheScheduler) {
  Cluster cluster;
  cluster.set("default", "{replicas: 3}");
  cluster.settle();
  for (const char* name : {"a", "b", "other"}) {
    cluster.put(fmt::format(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {0}, namespace: openshift-ingress, labels: "
        "{{ingresscontroller.operator.openshift.io/deployment-ingresscontroller: {1}}}}}, status: {{conditions: [{{type: "
        "PodScheduled, status: 'False', message: 0/3 nodes have free ports}}]}}}}",
        name, std::string_view(name) == "other" ? "x" : "default"));
  }
  cluster.settle();
  EXPECT_EQ(cluster.condition("default", "PodsScheduled"), "False");
  EXPECT_EQ(cluster.message("default", "PodsScheduled"), "2 of 2 routers are not scheduled: 0/3 nodes have free ports");
  EXPECT_NE(cluster.message("default", "Progressing").find("0/3 nodes have free ports"), std::string::npos);
}

TEST(IngressCertificates, AreValidForTheDomainAndTrustedByTheBundle) {
  Cluster cluster;
  cluster.settle();
  const std::string leaf = data_of(cluster.find(secrets, router_space, "router-certs-default"), "tls.crt").value();
  const net::CertificateInfo info = net::parse_certificate(leaf).value();
  EXPECT_EQ(info.dns_names, Names{"*.apps.demo.example.com"});
  EXPECT_TRUE(info.server_auth);
  const std::string trusted = data_of(cluster.find(config_maps, managed_space, "default-ingress-cert"), "ca-bundle.crt").value();
  EXPECT_TRUE(net::is_signed_by(leaf, trusted).value());
  EXPECT_EQ(cluster.renewed, 0);
  cluster.now = noon + std::chrono::hours(24) * 366;
  cluster.settle();
  EXPECT_EQ(cluster.renewed, 1);
  EXPECT_NE(data_of(cluster.find(secrets, router_space, "router-certs-default"), "tls.crt").value(), leaf);
}

TEST(IngressCertificates, OfAnAdministratorAreServedWhenValid) {
  Cluster cluster;
  cluster.set("default", "{defaultCertificate: {name: mine}}");
  cluster.settle();
  const auto mounted = [&] { return text_of(find_array(cluster.pod("default"), {"volumes"}).at(0), {"secret", "secretName"}); };
  EXPECT_EQ(mounted(), "router-certs-default");
  EXPECT_EQ(cluster.condition("default", "Degraded"), "True");
  EXPECT_NE(cluster.message("default", "Degraded").find("Secret openshift-ingress/mine does not exist"), std::string::npos);

  const net::CertificateSpec spec{
      .subject = {.common_name = "mine"}, .server_auth = true, .valid_from = noon, .valid_for = Seconds(60)};
  const net::Certificate mine = net::make_certificate(spec, nullptr).value(),
                         other = net::make_certificate(spec, nullptr).value();
  const auto put = [&](const Secret& key) {
    cluster.view.put(
        secret({std::string(router_space), "mine"}, "kubernetes.io/tls", {{"tls.crt", mine.pem}, {"tls.key", key.reveal()}}));
    cluster.settle();
  };
  put(other.key);
  EXPECT_EQ(mounted(), "router-certs-default");
  EXPECT_NE(cluster.message("default", "Degraded").find("not the key of tls.crt"), std::string::npos);
  put(mine.key);
  EXPECT_EQ(mounted(), "mine");
  EXPECT_EQ(cluster.condition("default", "Degraded"), "False");
  EXPECT_EQ(data_of(cluster.find(config_maps, managed_space, "default-ingress-cert"), "ca-bundle.crt").value(), mine.pem);
}

TEST(IngressOperator, RoutersTrustTheServiceCa) {
  Cluster cluster;
  cluster.settle();
  const Json* bundle = cluster.find(config_maps, router_space, "service-ca-bundle");
  ASSERT_NE(bundle, nullptr);
  EXPECT_EQ(find_string(*bundle, {"metadata", "annotations", "service.beta.openshift.io/inject-cabundle"}), "true");
  const Json* deployment = cluster.find(kube::types::deployments, router_space, "router-default");
  ASSERT_NE(deployment, nullptr);
  const Json& pod = *find(*deployment, {"spec", "template", "spec"});
  EXPECT_EQ(find_array(pod, {"volumes"})[1],
            (Json{{"name", "service-ca"}, {"configMap", {{"name", "service-ca-bundle"}, {"optional", true}}}}));
  // The operator service-ca writes the data, and it stays.
  Json injected = *bundle;
  injected.as_object()["data"] = JsonObject{{"service-ca.crt", "pem"}};
  cluster.view.put(injected);
  cluster.settle();
  EXPECT_EQ(data_of(cluster.find(config_maps, router_space, "service-ca-bundle"), "service-ca.crt"), "pem");
}

}  // namespace
}  // namespace slipway::components::ingress
