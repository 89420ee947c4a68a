#include "components/ingress/operator.h"

#include "components/controller/certificate_rotation.h"
#include "components/controller/object_parts.h"
#include "components/controller/operand.h"
#include "components/ingress/certificates.h"
#include "components/ingress/ingress_routes.h"
#include "components/ingress/router.h"
#include "components/ingress/settings.h"
#include "components/ingress/status.h"

#include <algorithm>

namespace slipway::components::ingress {

namespace {

constexpr std::string_view default_certificate = "default-ingress-cert";

const std::vector<Watched> watched = {
    {kube::types::ingress_controllers, std::string(operator_space)},
    {kube::types::ingresses, "", {.fields = "metadata.name=cluster"}},
    {kube::types::infrastructures, "", {.fields = "metadata.name=cluster"}},
    {kube::types::nodes},
    {kube::types::deployments, std::string(router_space)},
    {kube::types::services, std::string(router_space)},
    {kube::types::pod_disruption_budgets, std::string(router_space)},
    {kube::types::network_policies, std::string(router_space)},
    {kube::types::pods, std::string(router_space)},
    {kube::types::secrets, std::string(router_space)},
    {kube::types::secrets, std::string(operator_space), {.fields = "metadata.name=router-ca"}},
    {kube::types::config_maps, std::string(managed_space), {.fields = "metadata.name=router-ca"}},
    {kube::types::config_maps, std::string(managed_space), {.fields = "metadata.name=default-ingress-cert"}},
    {kube::types::config_maps, std::string(router_space), {.fields = fmt::format("metadata.name={}", service_ca_bundle)}},
    watched_lifetimes(),
};

Json default_controller() {
  return {{"apiVersion", kube::types::ingress_controllers.api_version()},
          {"kind", kube::types::ingress_controllers.kind},
          {"metadata", {{"name", default_name}, {"namespace", operator_space}}},
          {"spec", JsonObject()}};
}

std::vector<const Json*> pods_of(std::string_view controller, const Snapshot& seen) {
  std::vector<const Json*> pods = seen.list(kube::types::pods, router_space);
  std::erase_if(pods, [&](const Json* pod) { return find_string(*pod, {"metadata", "labels", controller_label}) != controller; });
  return pods;
}

// Excludes controllers that are being deleted, so their routers are removed.
std::vector<const Json*> controllers_of(const Snapshot& seen) {
  std::vector<const Json*> controllers = seen.list(kube::types::ingress_controllers, operator_space);
  std::erase_if(controllers, [](const Json* controller) { return is_terminating(*controller); });
  return controllers;
}

Result<> add_router(const Settings& settings, const ServedCertificate& served, const ClusterFacts& facts,
                    const std::string& image, const Snapshot& seen, Plan& plan) {
  // Waits for the Secret: a pod whose Secret is missing retries only after a while.
  if (served.secret.empty()) return Ok{};
  const Router router = {settings, wanted_replicas(settings, facts, seen), image, served.secret};
  for (DesiredObject& desired : TRY(router_objects(router, facts))) plan.desired_objects.push_back(std::move(desired));
  return Ok{};
}

// The bundle that the installer and other clients read to trust the routers.
void add_trust(const Settings& settings, const Snapshot& seen, Plan& plan) {
  const std::string pem = trusted_by_clients(settings, seen);
  if (pem.empty()) return;
  plan.desired_objects.push_back(
      {kube::types::config_maps,
       config_map({std::string(managed_space), std::string(default_certificate)}, {{"ca-bundle.crt", pem}})});
}

// Routers read it to verify pods of reencrypt Routes. The operator service-ca writes its data.
DesiredObject service_ca_object() {
  return {kube::types::config_maps,
          config_map({std::string(router_space), std::string(service_ca_bundle)}, {},
                     {{"service.beta.openshift.io/inject-cabundle", "true"}}),
          DesiredObject::How::create};
}

Result<DesiredState> make_aim(const std::string& image, const Snapshot& seen, WallTime now) {
  const ClusterFacts facts = TRY(cluster_facts(seen));
  const std::vector<const Json*> controllers = controllers_of(seen);
  const std::map<std::string, Admission> admissions = admit_all(controllers, facts);
  DesiredState desired_state;
  Plan& plan = desired_state.plan;
  if (!admissions.contains(std::string(default_name))) {
    plan.desired_objects.push_back({kube::types::ingress_controllers, default_controller(), DesiredObject::How::create});
  }

  plan.desired_objects.push_back(service_ca_object());
  std::vector<Settings> admitted;
  std::vector<std::string> names;
  for (const auto& [name, admission] : admissions) {
    names.push_back(name);
    if (admission.settings) admitted.push_back(*admission.settings);
  }
  std::vector<Condition> of_certificates;
  const Lifetimes lifetimes = lifetimes_of(seen, of_certificates);
  plan.add(TRY(plan_certificates(admitted, names, lifetimes, seen, now)));

  for (const Json* controller : controllers) {
    const std::string name(kube::name_of(*controller));
    const Admission& admission = admissions.at(name);
    ServedCertificate served;
    if (admission.settings) {
      served = served_certificate(*admission.settings, seen);
      TRY(add_router(*admission.settings, served, facts, image, seen, plan));
      if (name == default_name) add_trust(*admission.settings, seen, plan);
    }
    const RouterState state = {admission, seen.find(kube::types::deployments, router_space, deployment_name(name)),
                               pods_of(name, seen), served.problem};
    plan.desired_objects.push_back(
        {kube::types::ingress_controllers, with_status(*controller, state, now), DesiredObject::How::status});
    if (name != default_name) continue;
    for (const Condition& each : router_conditions(state)) {
      if (each.type == "Available" || each.type == "Progressing" || each.type == "Degraded") {
        desired_state.conditions.push_back({"Ingress" + each.type, each.is_true, each.reason, each.message});
      }
    }
  }
  if (desired_state.conditions.empty()) {
    const std::string missing = fmt::format("IngressController {}/{} is being created", operator_space, default_name);
    desired_state.conditions = {{"IngressAvailable", false, "NoDefault", missing},
                                {"IngressProgressing", true, "NoDefault", missing},
                                {"IngressDegraded"}};
  }
  desired_state.conditions.insert(desired_state.conditions.end(), of_certificates.begin(), of_certificates.end());
  for (DesiredObject& desired : obsolete_objects(admissions, seen)) plan.desired_objects.push_back(std::move(desired));
  return desired_state;
}

}  // namespace

WorkloadOperator make_operator(const std::string& router_image) {
  return {.name = "ingress",
          .space = std::string(operator_space),
          .watched = watched,
          .operands = {"ingress-controller"},
          .desired_state = [router_image](const Snapshot& seen, WallTime now) { return make_aim(router_image, seen, now); },
          .observer = [](const sys::Context& context, kube::Api& api, View&) { return keep_ingresses(context, api); }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(environment, arguments, "ingress-operator",
                               [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> {
                                 return make_operator(TRY(environment_text("HAPROXY_ROUTER_IMAGE")));
                               });
}

}  // namespace slipway::components::ingress
