#include "components/network/operator.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/controller/operand.h"
#include "components/network/policy/report.h"
#include "components/network/wanted.h"
#include "components/render/document.h"
#include "components/workload/workload.h"
#include "net/url.h"

#include <algorithm>

namespace slipway::components::network {

namespace {

constexpr std::string_view program = "cluster-network-operator";
constexpr std::string_view space = "openshift-flannel";

const Workload on_nodes = {kube::types::daemon_sets, std::string(space), "flannel-kube-proxy"};

const std::vector<Watched> watched = {
    {kube::types::networks, "", {.fields = "metadata.name=cluster"}},
    {kube::types::network_settings, "", {.fields = "metadata.name=cluster"}},
    {kube::types::infrastructures, "", {.fields = "metadata.name=cluster"}},
    {kube::types::daemon_sets, std::string(space)},
    {kube::types::config_maps, std::string(space), {.fields = "metadata.name=flannel-kube-proxy-config"}},
    {kube::types::network_policies},
    {kube::types::pods, "", {.fields = "spec.hostNetwork=true"}},
};

// Network.operator.openshift.io cluster with the settings of the installation, where administrators look for them. Other fields
// belong to administrators.
DesiredObject settings_object(const Json& config, const Json* settings) {
  JsonObject spec = {{"clusterNetwork", find_array(config, {"spec", "clusterNetwork"})},
                     {"serviceNetwork", find_array(config, {"spec", "serviceNetwork"})},
                     {"defaultNetwork", {{"type", text_of(config, {"spec", "networkType"})}}}};
  if (!settings) spec["managementState"] = "Managed";
  Json object = {{"apiVersion", kube::types::network_settings.api_version()},
                 {"kind", kube::types::network_settings.kind},
                 {"metadata", {{"name", "cluster"}}},
                 {"spec", std::move(spec)}};
  return {kube::types::network_settings, std::move(object)};
}

// How pods reach those of other nodes: by routes through the nodes where all nodes share a link, otherwise in tunnels. The nodes
// of a cluster on AWS are in several subnets. OpenStack drops what a machine sends with an address that is not its own.
std::string_view back_end(const Json& infrastructure) {
  const std::string platform = text_of(infrastructure, {"status", "platform"});
  return platform == "AWS" || platform == "OpenStack" ? "vxlan" : "host-gw";
}

Result<std::vector<DesiredObject>> operand_objects(const Images& images, const std::string& cluster_network,
                                                   const Json& infrastructure) {
  const std::string uri = text_of(infrastructure, {"status", "apiServerInternalURI"});
  const net::Url api = TRY(net::parse_url(uri).context("status.apiServerInternalURI of Infrastructure cluster"));
  Json config = TRY(fill_document("network/config.yaml",
                                  {{"CLUSTER_NETWORK", cluster_network}, {"BACK_END", std::string(back_end(infrastructure))}}));
  const std::string digest = sha256_hex(emit_json(config, JsonStyle::compact));
  std::vector<DesiredObject> desired_objects =
      TRY(desired_objects_of_folder("network/manifests", {{"API_HOST", quoted(api.host)},
                                                          {"API_PORT", std::to_string(api.port)},
                                                          {"CONFIG_DIGEST", digest},
                                                          {"FLANNEL_IMAGE", quoted(images.flannel)},
                                                          {"KUBE_PROXY_IMAGE", quoted(images.kube_proxy)},
                                                          {"POLICY_AGENT_IMAGE", quoted(images.policy_agent)}}));
  desired_objects.push_back({kube::types::config_maps, std::move(config)});
  return desired_objects;
}

// Network.config.openshift.io cluster: its status has the network in force, for other components. It is set once every node has
// the network.
void add_status(const Json& config, DesiredState& desired_state) {
  Json object = config;
  JsonObject status = find_object(config, {"status"});
  status["clusterNetwork"] = find_array(config, {"spec", "clusterNetwork"});
  status["serviceNetwork"] = find_array(config, {"spec", "serviceNetwork"});
  status["networkType"] = network_type;
  status["clusterNetworkMTU"] = pod_mtu;
  object.as_object()["status"] = std::move(status);
  desired_state.plan.desired_objects.push_back({kube::types::networks, std::move(object), DesiredObject::How::status});
}

// The condition types equal those of OpenShift's operator.
std::vector<Condition> conditions_of(const Json& config, const std::vector<std::string>& refusals, const Snapshot& seen) {
  std::vector<Condition> conditions = workload_conditions("", {on_nodes}, seen);
  const std::string_view asked = find_string(config, {"spec", "networkType"}).value_or("");
  for (Condition& each : conditions) {
    if (each.type == "Available" && each.is_true && asked != network_type) {
      each.message = fmt::format("spec.networkType is \"{}\"; this release runs {} instead", asked, network_type);
    }
    if (each.type == "Degraded" && !refusals.empty()) each = {each.type, true, "NotSupported", join(refusals, "; ")};
  }
  return conditions;
}

Result<DesiredState> make_aim(const Images& images, const Snapshot& seen, WallTime now) {
  const Json& config = *TRY(of_installer(kube::types::networks, seen));
  const Json* settings = seen.find(kube::types::network_settings, "", "cluster");
  DesiredState desired_state;
  const Wanted wanted = read_wanted(config, settings ? *settings : Json());
  desired_state.conditions = conditions_of(config, wanted.refusals, seen);
  if (!settings || is_managed(*settings)) {
    desired_state.plan.desired_objects.push_back(settings_object(config, settings));
    if (wanted.refusals.empty()) {
      const Json& infrastructure = *TRY(of_installer(kube::types::infrastructures, seen));
      for (DesiredObject& desired : TRY(operand_objects(images, wanted.cluster_network, infrastructure)))
        desired_state.plan.desired_objects.push_back(std::move(desired));
      const Json* pods = seen.find(on_nodes.type, on_nodes.space, on_nodes.name);
      if (pods && !not_rolled_out(*pods)) add_status(config, desired_state);
    }
  }
  PolicyReport report = report_policies(seen);
  std::ranges::move(report.notices, std::back_inserter(desired_state.plan.notices));
  if (settings) {
    // The condition of policies is not the operator's own: what people write there makes no operator degraded.
    std::vector<Condition> conditions = desired_state.conditions;
    conditions.push_back(std::move(report.condition));
    desired_state.plan.desired_objects.push_back(
        {kube::types::network_settings, with_conditions(*settings, conditions, now), DesiredObject::How::status});
  }
  return desired_state;
}

}  // namespace

WorkloadOperator make_operator(const Images& images) {
  return {.name = "network",
          .space = "openshift-network-operator",
          .watched = watched,
          .desired_state = [images](const Snapshot& seen, WallTime now) { return make_aim(images, seen, now); },
          .configured_by = {kube::types::network_settings}};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(environment, arguments, program,
                               [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> {
                                 Images images;
                                 images.flannel = TRY(environment_text("FLANNEL_IMAGE"));
                                 images.kube_proxy = TRY(environment_text("KUBE_PROXY_IMAGE"));
                                 images.policy_agent = TRY(environment_text("OPERATOR_IMAGE"));
                                 return make_operator(images);
                               });
}

}  // namespace slipway::components::network
