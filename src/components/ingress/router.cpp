#include "components/ingress/router.h"

#include "base/digest.h"
#include "components/controller/operand.h"
#include "components/render/document.h"
#include "components/workload/workload_operator.h"

#include <algorithm>

namespace slipway::components::ingress {

namespace {

constexpr std::string_view owner_label = "ingresscontroller.operator.openshift.io/owning-ingresscontroller";
constexpr std::string_view hash_label = "ingresscontroller.operator.openshift.io/hash";

std::string node_port_service(std::string_view controller) { return fmt::format("router-nodeport-{}", controller); }

// Adds a hash of the pod template as a label. A template that lacks a field then differs from the current Deployment, so the
// field
// is removed when the whole object is applied.
void put_hash(Json& deployment) {
  Json& pod = deployment.as_object()["spec"].as_object()["template"];
  const std::string hash = sha256_hex(emit_json(pod, JsonStyle::compact)).substr(0, 10);
  pod.as_object()["metadata"].as_object()["labels"].as_object()[hash_label] = hash;
}

void put_variable(JsonArray& environment, std::string_view name, const std::string& value) {
  environment.push_back(JsonObject{{"name", name}, {"value", value}});
}

Result<Json> deployment_of(const Router& router, const ClusterFacts& facts, const TemplateValues& values) {
  const Settings& settings = router.settings;
  Json deployment = TRY(fill_document("ingress/router/deployment.yaml", values));
  if (settings.publishing == Publishing::host_network) {
    deployment = merge_layers(std::move(deployment), TRY(fill_document("ingress/router/host-network.yaml", values)));
  }
  JsonObject& spec = deployment.as_object()["spec"].as_object();
  spec["replicas"] = router.replicas;
  JsonObject& pod = spec["template"].as_object()["spec"].as_object();
  pod["nodeSelector"] = settings.node_selector;
  if (!settings.tolerations.empty()) pod["tolerations"] = settings.tolerations;
  JsonArray& environment = pod["containers"].as_array()[0].as_object()["env"].as_array();
  for (const auto& [name, value] : settings.variables) put_variable(environment, name, value);
  if (settings.publishing == Publishing::host_network) {
    // Routers must work even when Services do not.
    put_variable(environment, "KUBERNETES_SERVICE_HOST", facts.api_host);
    put_variable(environment, "KUBERNETES_SERVICE_PORT", std::to_string(facts.api_port));
  }
  put_hash(deployment);
  return deployment;
}

}  // namespace

std::string deployment_name(std::string_view controller) { return fmt::format("router-{}", controller); }

Result<std::vector<DesiredObject>> router_objects(const Router& router, const ClusterFacts& facts) {
  const Settings& settings = router.settings;
  const TemplateValues values = {{"NAME", settings.name},
                                 {"CERTIFICATE", router.certificate},
                                 {"DOMAIN", settings.domain},
                                 {"HTTPS_PORT", std::to_string(settings.https_port)},
                                 {"HTTP_PORT", std::to_string(settings.http_port)},
                                 {"IMAGE", quoted(router.image)},
                                 {"MOST_AWAY", router.replicas > 1 ? "50%" : "1"},
                                 {"ROUTES_DOMAIN", facts.routes_domain},
                                 {"SERVICE_CA", std::string(service_ca_bundle)},
                                 {"STATS_PORT", std::to_string(settings.stats_port)}};
  Json deployment = TRY(deployment_of(router, facts, values));
  Json internal = TRY(fill_document("ingress/router/service-internal.yaml", values));
  Json budget = TRY(fill_document("ingress/router/disruption-budget.yaml", values));
  std::vector<DesiredObject> desired_objects;
  desired_objects.push_back({kube::types::deployments, std::move(deployment)});
  desired_objects.push_back({kube::types::pod_disruption_budgets, std::move(budget)});
  desired_objects.push_back({kube::types::services, std::move(internal)});
  if (settings.publishing == Publishing::node_port) {
    Json node_port = TRY(fill_document("ingress/router/service-node-port.yaml", values));
    desired_objects.push_back({kube::types::services, std::move(node_port)});
  }
  // No policy applies to pods in the network of the host.
  if (settings.publishing != Publishing::host_network) {
    Json policy = TRY(fill_document("ingress/router/network-policy.yaml", values));
    desired_objects.push_back({kube::types::network_policies, std::move(policy)});
  }
  return desired_objects;
}

std::vector<DesiredObject> obsolete_objects(const std::map<std::string, Admission>& controllers, const Snapshot& seen) {
  std::vector<DesiredObject> desired_objects;
  const auto is_wanted = [](const Settings& settings, const Json& object, const std::string& owner) {
    if (text_of(object, {"kind"}) == kube::types::network_policies.kind) return settings.publishing != Publishing::host_network;
    return kube::name_of(object) != node_port_service(owner) || settings.publishing == Publishing::node_port;
  };
  for (const kube::ResourceType& type :
       {kube::types::deployments, kube::types::services, kube::types::pod_disruption_budgets, kube::types::network_policies}) {
    for (const Json* object : seen.list(type, router_space)) {
      const std::string owner = text_of(*object, {"metadata", "labels", owner_label});
      if (owner.empty()) continue;
      const auto controller = controllers.find(owner);
      // Objects of a refused controller stay unchanged.
      const bool stays = controller != controllers.end() &&
                         (!controller->second.settings || is_wanted(*controller->second.settings, *object, owner));
      if (!stays) desired_objects.push_back({type, *object, DesiredObject::How::remove});
    }
  }
  return desired_objects;
}

}  // namespace slipway::components::ingress
