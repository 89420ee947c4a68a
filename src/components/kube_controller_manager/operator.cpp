#include "components/kube_controller_manager/operator.h"

#include "base/yaml.h"
#include "components/controller/operator_process.h"
#include "components/kube_controller_manager/keys.h"
#include "components/kube_controller_manager/render.h"
#include "components/render/document.h"
#include "components/static_pod/target_inputs.h"

namespace slipway::components::kube_controller_manager {

namespace {

constexpr std::string_view api_operator = "the kube-apiserver operator";

Operand operand() {
  using Kind = Part::Kind;
  return {.name = "kube-controller-manager",
          .settings = kube::types::kube_controller_managers,
          .operator_space = std::string(operator_space),
          .space = std::string(space),
          .pod = "kube-controller-manager",
          .revisioned = {{Kind::config_map, "kube-controller-manager-pod"},
                         {Kind::config_map, "config"},
                         {Kind::config_map, "cluster-policy-controller-config"},
                         {Kind::config_map, "controller-manager-kubeconfig"},
                         {Kind::config_map, "serviceaccount-ca"},
                         {Kind::config_map, "recycler-config"},
                         {Kind::secret, "service-account-private-key"}},
          // No program of the pod reads service-ca, so it needs no revision when it is created later.
          .unversioned = {{Kind::config_map, "aggregator-client-ca"},
                          {Kind::config_map, "client-ca"},
                          {Kind::config_map, "service-ca", true},
                          {Kind::secret, "csr-signer"},
                          {Kind::secret, "kube-controller-manager-client-cert-key"}}};
}

std::vector<Watched> watched() {
  return {{kube::types::infrastructures},
          {kube::types::networks},
          {kube::types::feature_gates},
          {kube::types::cluster_versions},
          {kube::types::kube_apiservers},
          {kube::types::endpoints, "default", {.fields = "metadata.name=kubernetes"}},
          {kube::types::config_maps, std::string(managed_space)},
          watched_lifetimes(),
          {kube::types::secrets, std::string(managed_space), {.fields = "metadata.name=kube-controller-manager-client-cert-key"}},
          {kube::types::secrets, "openshift-config", {.fields = "metadata.name=initial-service-account-private-key"}}};
}

// Plans the configs only when all inputs exist: a config from incomplete inputs would cause a second revision.
Result<> plan_configs(const OperatorVariables& variables, const Lifetimes& lifetimes, const Snapshot& seen, const Json& settings,
                      Target& target) {
  const std::optional<FeatureGates> gates = find_gates(variables.version, seen, target);
  const Json* network_object = find_cluster_object(kube::types::networks, seen, target);
  const std::string cluster = infrastructure_text("infrastructureName", seen, target);
  if (network_object == nullptr) return Ok{};
  Findings findings;
  const Network network = parse_network(*network_object, "Network cluster", findings);
  const JsonObject of_network = network_arguments(network, "Network cluster", findings);
  add_missing(findings, target);
  if (!gates || cluster.empty() || findings.has_errors()) return Ok{};

  TemplateValues values = TRY(places("masters"));
  values["CLUSTER_NAME"] = quoted(cluster);
  const std::vector<std::string> gate_list = gate_settings(*gates);
  Json config = merge_layers(TRY(make_config(values, of_network, gate_list)),
                             TRY(fill_document("kube_controller_manager/config-masters.yaml", values)));
  if (lifetimes.kubelet) {
    const JsonArray duration{Json(fmt::format("{}s", lifetimes.kubelet->count()))};
    config = merge_layers(std::move(config), Json{{"extendedArguments", {{"cluster-signing-duration", duration}}}});
  }
  put_text(space, "config", "config.yaml", emit_yaml(with_overrides(std::move(config), settings)), target);
  const Json policy = TRY(make_policy_config(values, gate_list));
  put_text(space, "cluster-policy-controller-config", "config.yaml", emit_yaml(policy), target);
  return Ok{};
}

Result<Target> plan_target(const OperatorVariables& variables, const std::string& policy_image, const Snapshot& seen,
                           const Json& settings, WallTime now) {
  Target target;
  const TemplateValues images = {{"IMAGE", quoted(variables.image)}, {"POLICY_IMAGE", quoted(policy_image)}};
  put_text(space, "kube-controller-manager-pod", "pod.yaml", TRY(fill_text("kube_controller_manager/static-pod.yaml", images)),
           target);
  put_text(space, "recycler-config", "recycler-pod.yaml", TRY(fill_text("kube_controller_manager/recycler-pod.yaml", images)),
           target);
  const Lifetimes lifetimes = lifetimes_of(seen, target.conditions);
  TRY(plan_configs(variables, lifetimes, seen, settings, target));
  if (const std::string server = infrastructure_text("apiServerInternalURI", seen, target); !server.empty()) {
    put_text(space, "controller-manager-kubeconfig", "kubeconfig",
             TRY(fill_text("kube_controller_manager/kubeconfig.yaml", {{"API_SERVER", quoted(server)}})), target);
  }

  const auto copy = [&](Part::Kind kind, std::string_view from, std::string_view to, std::string_view maker) {
    copy_object(kind, {std::string(managed_space), std::string(from)}, {std::string(space), std::string(to)}, maker, seen,
                target);
  };
  copy(Part::Kind::config_map, "kube-apiserver-server-ca", "serviceaccount-ca", api_operator);
  copy(Part::Kind::config_map, "kube-apiserver-client-ca", "client-ca", api_operator);
  copy(Part::Kind::config_map, "kube-apiserver-aggregator-client-ca", "aggregator-client-ca", api_operator);
  copy(Part::Kind::config_map, "service-ca", "service-ca", "");
  copy(Part::Kind::secret, "kube-controller-manager-client-cert-key", "kube-controller-manager-client-cert-key", api_operator);

  TRY(plan_csr_signer(seen, lifetimes, now, target));
  TRY(plan_account_key(seen, lifetimes, now, target));
  return target;
}

}  // namespace

StaticPodOperator make_operator(const OperatorVariables& variables, const std::string& policy_image) {
  return {.operand = operand(),
          .watched = watched(),
          .target = [variables, policy_image](const Snapshot& seen, const Json& settings, WallTime now) {
            return plan_target(variables, policy_image, seen, settings, now);
          }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_static_pod_operator(environment, arguments, "cluster-kube-controller-manager-operator",
                                 [](const Environment&, const OperatorVariables& variables) -> Result<StaticPodOperator> {
                                   return make_operator(variables, TRY(environment_text("CLUSTER_POLICY_CONTROLLER_IMAGE")));
                                 });
}

}  // namespace slipway::components::kube_controller_manager
