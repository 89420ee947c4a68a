#include "components/dns/operator.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/dns/corefile.h"
#include "components/render/document.h"
#include "components/render/manifest.h"
#include "components/workload/workload.h"
#include "kube/roles.h"
#include "net/ip.h"

namespace slipway::components::dns {

namespace {

constexpr std::string_view program = "dns-operator";
constexpr std::string_view space = "openshift-dns";
constexpr std::string_view operand_name = "dns-default";
constexpr std::string_view settings_name = "default";
// CoreDNS has the tenth address of the Service network. Kubelets get that address in the configs of machines.
constexpr std::uint64_t host_of_names = 10;

const Workload on_nodes = {kube::types::daemon_sets, std::string(space), std::string(operand_name)};

const std::vector<Watched> watched = {
    {kube::types::networks, "", {.fields = "metadata.name=cluster"}},
    {kube::types::dns_settings, "", {.fields = fmt::format("metadata.name={}", settings_name)}},
    {kube::types::daemon_sets, std::string(space)},
    {kube::types::services, std::string(space)},
    {kube::types::network_policies, std::string(space)},
    {kube::types::config_maps, std::string(space), {.fields = fmt::format("metadata.name={}", operand_name)}},
};

// The tenth address of the first Service network.
Result<std::string> cluster_ip(const Snapshot& seen) {
  constexpr std::string_view doing = "spec.serviceNetwork of Network.config.openshift.io cluster";
  const Json* network = seen.find(kube::types::networks, "", "cluster");
  if (!network) return error(Code::not_found, "Network.config.openshift.io cluster, which the installer creates, does not exist");
  const JsonArray& services = find_array(*network, {"spec", "serviceNetwork"});
  if (services.empty() || !services[0].is_string()) return error(Code::invalid, "{} is empty", doing);
  const net::Cidr cidr = TRY(net::parse_cidr(services[0].get_string()).context(doing));
  return net::to_string(TRY(cidr.host(host_of_names).context(doing)));
}

// If settings are refused, the current Corefile stays. A cluster without a Corefile gets the one without the refused settings.
Result<Corefile> corefile_of(const Json& settings, const Snapshot& seen) {
  Corefile corefile = TRY(make_corefile(settings));
  if (corefile.refusals.empty()) return corefile;
  const Json* known = seen.find(kube::types::config_maps, space, operand_name);
  const auto in_force = known ? find_string(*known, {"data", "Corefile"}) : std::nullopt;
  corefile.text = in_force ? std::string(*in_force) : TRY(make_corefile(Json())).text;
  return corefile;
}

Json placement(const Json& settings, std::string_view field, Json usual) {
  const Json* given = find(settings, {"spec", "nodePlacement", field});
  return given && !given->is_null() ? *given : usual;
}

Result<std::vector<DesiredObject>> operand_objects(const std::string& image, const Json& settings, const std::string& corefile,
                                                   const std::string& address) {
  const Json masters = JsonArray{JsonObject{{"key", kube::master_label}, {"operator", "Exists"}},
                                 JsonObject{{"key", kube::control_plane_label}, {"operator", "Exists"}}};
  const Json tolerations = placement(settings, "tolerations", masters);
  const Json selector = placement(settings, "nodeSelector", JsonObject{{"kubernetes.io/os", "linux"}});
  std::vector<DesiredObject> desired_objects =
      TRY(desired_objects_of_folder("dns/manifests", {{"CLUSTER_IP", address},
                                                      {"COREFILE_DIGEST", sha256_hex(corefile)},
                                                      {"IMAGE", quoted(image)},
                                                      {"NODE_SELECTOR", emit_json(selector, JsonStyle::compact)},
                                                      {"TOLERATIONS", emit_json(tolerations, JsonStyle::compact)}}));
  const ObjectName name{std::string(space), std::string(operand_name)};
  desired_objects.push_back(
      {kube::types::config_maps,
       config_map(name, {{"Corefile", corefile}}, {}, {{"dns.operator.openshift.io/owning-dns", std::string(settings_name)}})});
  return desired_objects;
}

// The condition types equal those of OpenShift's operator.
std::vector<Condition> conditions_of(const std::vector<std::string>& refusals, const Snapshot& seen) {
  std::vector<Condition> conditions = workload_conditions("", {on_nodes}, seen);
  for (Condition& each : conditions) {
    if (each.type == "Degraded" && !refusals.empty()) each = {each.type, true, "NotSupported", join(refusals, "; ")};
  }
  return conditions;
}

DesiredObject status_object(Json settings, const std::vector<Condition>& conditions, const std::string& address, WallTime now) {
  Json object = with_conditions(std::move(settings), conditions, now);
  JsonObject& status = object.at("status").as_object();
  status["clusterIP"] = address;
  status["clusterDomain"] = cluster_domain;
  return {kube::types::dns_settings, std::move(object), DesiredObject::How::status};
}

Result<DesiredState> make_aim(const std::string& image, const Snapshot& seen, WallTime now) {
  const Json* settings = seen.find(kube::types::dns_settings, "", settings_name);
  if (!settings)
    return error(Code::not_found, "DNS.operator.openshift.io {} does not exist (create it with an empty spec)", settings_name);
  const std::string address = TRY(cluster_ip(seen));
  const Corefile corefile = TRY(corefile_of(*settings, seen));
  DesiredState desired_state;
  if (is_managed(*settings)) desired_state.plan.desired_objects = TRY(operand_objects(image, *settings, corefile.text, address));
  desired_state.conditions = conditions_of(corefile.refusals, seen);
  desired_state.plan.desired_objects.push_back(status_object(*settings, desired_state.conditions, address, now));
  return desired_state;
}

}  // namespace

WorkloadOperator make_operator(const std::string& image) {
  return {.name = "dns",
          .space = "openshift-dns-operator",
          .watched = watched,
          .operands = {"coredns"},
          .desired_state = [image](const Snapshot& seen, WallTime now) { return make_aim(image, seen, now); },
          .configured_by = {kube::types::dns_settings}};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(environment, arguments, program,
                               [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> {
                                 return make_operator(TRY(environment_text("COREDNS_IMAGE")));
                               });
}

}  // namespace slipway::components::dns
