#include "components/kube_scheduler/operator.h"

#include "base/text.h"
#include "base/yaml.h"
#include "components/render/document.h"
#include "components/static_pod/target_inputs.h"

namespace slipway::components::kube_scheduler {

namespace {

constexpr std::string_view space = "openshift-kube-scheduler";
constexpr std::string_view managed_space = "openshift-config-managed";
constexpr std::string_view api_operator = "the kube-apiserver operator";
constexpr std::string_view default_profile = "LowNodeUtilization";
Operand operand() {
  using Kind = Part::Kind;
  return {.name = "kube-scheduler",
          .settings = kube::types::kube_schedulers,
          .operator_space = "openshift-kube-scheduler-operator",
          .space = std::string(space),
          .pod = "openshift-kube-scheduler",
          .revisioned = {{Kind::config_map, "kube-scheduler-pod"},
                         {Kind::config_map, "config"},
                         {Kind::config_map, "scheduler-kubeconfig"},
                         {Kind::config_map, "serviceaccount-ca"}},
          .unversioned = {{Kind::secret, "kube-scheduler-client-cert-key"}}};
}

std::vector<Watched> watched() {
  return {{kube::types::schedulers},
          {kube::types::infrastructures},
          {kube::types::feature_gates},
          {kube::types::config_maps, std::string(managed_space), {.fields = "metadata.name=kube-apiserver-server-ca"}},
          {kube::types::secrets, std::string(managed_space), {.fields = "metadata.name=kube-scheduler-client-cert-key"}}};
}

Result<> plan_config(const Snapshot& seen, const Json& settings, Target& target) {
  const Json* wanted = find_cluster_object(kube::types::schedulers, seen, target);
  if (wanted == nullptr) return Ok{};
  std::string_view profile = find_string(*wanted, {"spec", "profile"}).value_or("");
  if (profile.empty()) profile = default_profile;
  const Json profiles = TRY(fill_document("kube_scheduler/profiles.yaml", {}));
  const Json* layer = find(profiles, {profile});
  Condition condition{.type = "ConfigObservationDegraded"};
  if (layer == nullptr) {
    // The CRD allows only three profiles, so this is a profile of a later release.
    condition = {condition.type, true, "UnknownProfile",
                 fmt::format("Scheduler cluster: unknown spec.profile {}, using {}", profile, default_profile)};
    layer = find(profiles, {default_profile});
  }
  target.conditions.push_back(std::move(condition));
  Json config = TRY(fill_document("kube_scheduler/config.yaml", {}));
  config = merge_layers(std::move(config), TRY(fill_document("kube_scheduler/config-masters.yaml", {})));
  config = merge_layers(std::move(config), *layer);
  put_text(space, "config", "config.yaml", emit_yaml(with_overrides(std::move(config), settings)), target);
  return Ok{};
}

Result<Target> plan_target(const OperatorVariables& variables, const Snapshot& seen, const Json& settings) {
  Target target;
  TRY(plan_config(seen, settings, target));
  if (const std::optional<FeatureGates> gates = find_gates(variables.version, seen, target)) {
    const TemplateValues values = {{"IMAGE", quoted(variables.image)}, {"FEATURE_GATES", join(gates->settings(), ",")}};
    put_text(space, "kube-scheduler-pod", "pod.yaml", TRY(fill_text("kube_scheduler/static-pod.yaml", values)), target);
  }
  if (const std::string server = infrastructure_text("apiServerInternalURI", seen, target); !server.empty()) {
    put_text(space, "scheduler-kubeconfig", "kubeconfig",
             TRY(fill_text("kube_scheduler/kubeconfig.yaml", {{"API_SERVER", quoted(server)}})), target);
  }
  const std::string managed(managed_space), own(space);
  copy_object(Part::Kind::config_map, {managed, "kube-apiserver-server-ca"}, {own, "serviceaccount-ca"}, api_operator, seen,
              target);
  copy_object(Part::Kind::secret, {managed, "kube-scheduler-client-cert-key"}, {own, "kube-scheduler-client-cert-key"},
              api_operator, seen, target);
  return target;
}

}  // namespace

StaticPodOperator make_operator(const OperatorVariables& variables) {
  return {
      .operand = operand(), .watched = watched(), .target = [variables](const Snapshot& seen, const Json& settings, WallTime) {
        return plan_target(variables, seen, settings);
      }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_static_pod_operator(environment, arguments, "cluster-kube-scheduler-operator",
                                 [](const Environment&, const OperatorVariables& variables) -> Result<StaticPodOperator> {
                                   return make_operator(variables);
                                 });
}

}  // namespace slipway::components::kube_scheduler
