#include "components/controller/unused_settings.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace slipway::components {

namespace {

using Types = std::vector<const kube::ResourceType*>;

const Types of_static_pods = {&kube::types::etcds, &kube::types::kube_apiservers, &kube::types::kube_controller_managers,
                              &kube::types::kube_schedulers};
const Types with_config = {&kube::types::kube_apiservers, &kube::types::kube_controller_managers, &kube::types::kube_schedulers};
const Types of_operators = {
    &kube::types::etcds,           &kube::types::kube_apiservers,        &kube::types::kube_controller_managers,
    &kube::types::kube_schedulers, &kube::types::config_settings,        &kube::types::credential_settings,
    &kube::types::dns_settings,    &kube::types::machine_configurations, &kube::types::network_settings,
    &kube::types::service_cas,     &kube::types::storages};

// How a field of spec, with all fields below it, takes effect.
enum class Effect {
  followed,  // an operator applies it, or refuses it in its own condition
  usual,     // nothing reads it; this value describes the default behavior
  in_force,  // changes are not applied; the comma-separated values in status are in effect
};

struct Row {
  Types types;
  std::string_view path;
  Effect effect = Effect::followed;
  std::string_view value{};  // for `usual`
};

// All other fields have no effect. A comment names the program that applies a field if it is not the operator of that name.
const std::vector<Row> rows = {
    {{&kube::types::api_servers}, "clientCA"},
    {{&kube::types::api_servers}, "audit.profile", Effect::usual, "Default"},
    {{&kube::types::api_servers}, "encryption.type", Effect::usual, "identity"},
    {{&kube::types::api_servers}, "tlsSecurityProfile.type", Effect::usual, "Intermediate"},
    // kube-apiserver. The other fields need an OAuth server, a webhook or OIDC.
    {{&kube::types::authentications}, "serviceAccountIssuer"},
    {{&kube::types::authentications}, "type", Effect::usual, "None"},
    // The installer describes the cluster with these fields. Zones (publicZone, privateZone) are not managed.
    {{&kube::types::dnses}, "baseDomain"},
    {{&kube::types::dnses}, "platform"},
    {{&kube::types::feature_gates}, "featureSet"},
    {{&kube::types::feature_gates}, "customNoUpgrade"},
    {{&kube::types::images}, "imageStreamImportMode", Effect::usual, "Legacy"},
    // config-operator and machine-config; the installer describes the platform.
    {{&kube::types::infrastructures}, "cloudConfig"},
    {{&kube::types::infrastructures}, "platformSpec"},
    {{&kube::types::ingresses}, "domain"},
    {{&kube::types::ingresses}, "appsDomain"},
    {{&kube::types::networks}, "clusterNetwork"},
    {{&kube::types::networks}, "serviceNetwork"},
    {{&kube::types::networks}, "networkType"},
    {{&kube::types::networks}, "networkDiagnostics.mode", Effect::usual, "Disabled"},
    {{&kube::types::node_settings}, "cgroupMode", Effect::usual, "v2"},
    {{&kube::types::node_settings}, "workerLatencyProfile", Effect::usual, "Default"},
    // machine-config gives machines the proxy of the status, which the installer wrote, and the bundle with this name.
    {{&kube::types::proxies}, "httpProxy", Effect::in_force},
    {{&kube::types::proxies}, "httpsProxy", Effect::in_force},
    {{&kube::types::proxies}, "noProxy", Effect::in_force},
    {{&kube::types::proxies}, "trustedCA.name", Effect::usual, "user-ca-bundle"},
    // kube-scheduler, machine-config
    {{&kube::types::schedulers}, "profile"},
    {{&kube::types::schedulers}, "mastersSchedulable"},

    {of_operators, "managementState"},
    {of_operators, "logLevel", Effect::usual, "Normal"},
    {of_operators, "operatorLogLevel", Effect::usual, "Normal"},
    {of_static_pods, "failedRevisionLimit"},
    {of_static_pods, "succeededRevisionLimit"},
    {of_static_pods, "forceRedeploymentReason"},
    {with_config, "observedConfig"},
    {with_config, "unsupportedConfigOverrides"},
    {{&kube::types::etcds}, "backendQuotaGiB"},
    {{&kube::types::etcds}, "controlPlaneHardwareSpeed"},
    {{&kube::types::credential_settings}, "credentialsMode"},
    {{&kube::types::dns_settings}, "cache"},
    {{&kube::types::dns_settings}, "logLevel"},
    {{&kube::types::dns_settings}, "nodePlacement"},
    {{&kube::types::dns_settings}, "servers"},
    {{&kube::types::dns_settings}, "upstreamResolvers"},
    {{&kube::types::machine_configurations}, "nodeDisruptionPolicy"},
    {{&kube::types::service_cas}, "unsupportedConfigOverrides.forceRotation.reason"},
    {{&kube::types::network_settings}, "additionalNetworks"},
    {{&kube::types::network_settings}, "additionalRoutingCapabilities"},
    {{&kube::types::network_settings}, "clusterNetwork"},
    {{&kube::types::network_settings}, "defaultNetwork.type"},
    {{&kube::types::network_settings}, "defaultNetwork.ovnKubernetesConfig.mtu"},
    {{&kube::types::network_settings}, "defaultNetwork.openshiftSDNConfig.mtu"},
    {{&kube::types::network_settings}, "deployKubeProxy"},
    {{&kube::types::network_settings}, "disableMultiNetwork"},
    {{&kube::types::network_settings}, "disableNetworkDiagnostics"},
    {{&kube::types::network_settings}, "exportNetworkFlows"},
    {{&kube::types::network_settings}, "kubeProxyConfig"},
    {{&kube::types::network_settings}, "migration"},
    {{&kube::types::network_settings}, "serviceNetwork"},
    {{&kube::types::network_settings}, "useMultiNetworkPolicy"},
};

bool is_of(const Row& row, const kube::ResourceType& type) {
  return std::ranges::any_of(row.types, [&](const kube::ResourceType* each) { return *each == type; });
}

bool is_in_force(std::string_view path, const Json& wanted, const Json& object) {
  if (!wanted.is_string()) return false;
  const std::vector<std::string_view> known = split(find_string(object, {"status", path}).value_or(""), ',');
  const std::vector<std::string_view> asked = split(wanted.get_string(), ',');
  return std::ranges::all_of(asked, [&](std::string_view each) { return std::ranges::find(known, each) != known.end(); });
}

bool has_effect(const kube::ResourceType& type, std::string_view path, const Json& value, const Json& object) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    if (row.path != path || !is_of(row, type)) return false;
    if (row.effect == Effect::followed) return true;
    if (row.effect == Effect::in_force) return is_in_force(path, value, object);
    return value.is_string() && std::string_view(value.get_string()) == row.value;
  });
}

// Whether the table has a row for a field below this one.
bool is_known_inside(const kube::ResourceType& type, const std::string& path) {
  return std::ranges::any_of(rows, [&](const Row& row) { return row.path.starts_with(path + ".") && is_of(row, type); });
}

constexpr int named_levels = 2;  // "spec.audit.profile": deeper names are often chosen by the user

void collect(const kube::ResourceType& type, const Json& value, const std::string& path, int level, const Json& object,
             std::vector<std::string>& unused) {
  if (!asks_for_something(&value) || has_effect(type, path, value, object)) return;
  if (value.is_object() && (level < named_levels || is_known_inside(type, path))) {
    for (const auto& member : value.get_object()) {
      collect(type, member.value(), fmt::format("{}.{}", path, std::string_view(member.key())), level + 1, object, unused);
    }
  } else {
    unused.push_back("spec." + path);
  }
}

}  // namespace

std::vector<kube::ResourceType> cluster_settings() {
  std::vector<kube::ResourceType> types;
  for (const Row& row : rows) {
    for (const kube::ResourceType* type : row.types) {
      if (type->group == "config.openshift.io" && std::ranges::find(types, *type) == types.end()) types.push_back(*type);
    }
  }
  return types;
}

bool asks_for_something(const Json* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->is_string()) return !value->get_string().empty();
  if (value->is_bool()) return value->get_bool();
  if (value->is_array()) return !value->get_array().empty();
  if (!value->is_object()) return true;
  const JsonObject& members = value->get_object();
  return std::any_of(members.begin(), members.end(), [](const auto& member) { return asks_for_something(&member.value()); });
}

std::vector<std::string> unused_settings(const kube::ResourceType& type, const Json& object) {
  std::vector<std::string> unused;
  if (std::ranges::none_of(rows, [&](const Row& row) { return is_of(row, type); })) return unused;
  for (const auto& member : find_object(object, {"spec"})) {
    collect(type, member.value(), std::string(member.key()), 1, object, unused);
  }
  std::ranges::sort(unused);
  return unused;
}

std::vector<std::string> unused_settings(const std::vector<kube::ResourceType>& types, const Snapshot& seen) {
  std::vector<std::string> lines;
  for (const kube::ResourceType& type : types) {
    for (const Json* object : seen.list(type)) {
      const std::vector<std::string> unused = unused_settings(type, *object);
      if (!unused.empty()) lines.push_back(fmt::format("{} {}: {}", type.kind, kube::name_of(*object), join(unused, ", ")));
    }
  }
  return lines;
}

}  // namespace slipway::components
