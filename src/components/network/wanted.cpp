#include "components/network/wanted.h"

#include "components/controller/operand.h"
#include "net/ip.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::components::network {

namespace {

// The supported values of networkType; flannel is used for both.
constexpr std::array known_types = {network_type, std::string_view("OVNKubernetes")};

void refuse_type(const Json& config, Wanted& wanted) {
  const std::string_view type = find_string(config, {"spec", "networkType"}).value_or("");
  if (std::ranges::find(known_types, type) != known_types.end()) return;
  wanted.refusals.push_back(
      fmt::format("spec.networkType of Network.config.openshift.io cluster is \"{}\", must be {}", type, network_type));
}

// Exactly one pod network and one Service network are supported, both IPv4.
void read_networks(const Json& config, Wanted& wanted) {
  const JsonArray& pods = find_array(config, {"spec", "clusterNetwork"});
  const JsonArray& services = find_array(config, {"spec", "serviceNetwork"});
  const auto refuse_unless_v4 = [&](std::string_view field, std::string_view text) {
    const Result<net::Cidr> cidr = net::parse_cidr(text);
    if (!cidr.ok()) {
      wanted.refusals.push_back(fmt::format("spec.{} of Network.config.openshift.io cluster: {}", field, cidr.error().message()));
    } else if (!cidr->is_v4()) {
      wanted.refusals.push_back(
          fmt::format("spec.{} of Network.config.openshift.io cluster is {}, but this release supports IPv4 only", field, text));
    }
  };
  if (pods.size() != 1 || services.size() != 1) {
    wanted.refusals.push_back(
        fmt::format("Network.config.openshift.io cluster has {} networks of pods and {} of Services, must have one of each",
                    pods.size(), services.size()));
    return;
  }
  wanted.cluster_network = text_of(pods[0], {"cidr"});
  refuse_unless_v4("clusterNetwork[0].cidr", wanted.cluster_network);
  refuse_unless_v4("serviceNetwork[0]", services[0].is_string() ? std::string_view(services[0].get_string()) : "");
}

// Refuses other networks than those in force: nodes keep their pod networks, and Services their addresses.
void refuse_changes(const Json& config, Wanted& wanted) {
  if (!find(config, {"status", "networkType"})) return;
  for (std::string_view field : {"clusterNetwork", "serviceNetwork"}) {
    const JsonArray& in_force = find_array(config, {"status", field});
    if (find_array(config, {"spec", field}) == in_force) continue;
    wanted.refusals.push_back(fmt::format("spec.{} of Network.config.openshift.io cluster cannot be changed (restore {})", field,
                                          emit_json(in_force, JsonStyle::compact)));
  }
}

bool is_given(const Json& settings, std::initializer_list<std::string_view> keys) {
  const Json* value = find(settings, keys);
  if (!value || value->is_null()) return false;
  if (value->is_array()) return !value->get_array().empty();
  if (value->is_object()) return !value->get_object().empty();
  return true;
}

// Refuses settings that would have no effect.
void refuse_settings(const Json& settings, Wanted& wanted) {
  const auto refuse = [&](std::string_view field, std::string_view why) {
    wanted.refusals.push_back(fmt::format("spec.{} of Network.operator.openshift.io cluster: {} (remove it)", field, why));
  };
  if (is_given(settings, {"spec", "additionalNetworks"}))
    refuse("additionalNetworks", "this release supports one network for pods");
  if (is_given(settings, {"spec", "additionalRoutingCapabilities"})) {
    refuse("additionalRoutingCapabilities", "this release has no routing daemon");
  }
  if (is_given(settings, {"spec", "exportNetworkFlows"})) refuse("exportNetworkFlows", "this release exports no flows");
  if (is_given(settings, {"spec", "kubeProxyConfig"})) refuse("kubeProxyConfig", "kube-proxy's configuration is fixed");
  if (is_given(settings, {"spec", "migration"})) refuse("migration", "this release has no other network to migrate to");
  const Json* multi = find(settings, {"spec", "useMultiNetworkPolicy"});
  if (multi && *multi == Json(true)) refuse("useMultiNetworkPolicy", "this release supports one network for pods");
  const Json* proxy = find(settings, {"spec", "deployKubeProxy"});
  if (proxy && *proxy == Json(false)) refuse("deployKubeProxy", "kube-proxy is required for Services");
  for (std::string_view mtu : {"ovnKubernetesConfig", "openshiftSDNConfig"}) {
    const int desired = integer_of(settings, {"spec", "defaultNetwork", mtu, "mtu"});
    if (desired == 0 || desired == pod_mtu) continue;
    refuse(fmt::format("defaultNetwork.{}.mtu", mtu), fmt::format("must be {}, got {}", pod_mtu, desired));
  }
}

}  // namespace

Wanted read_wanted(const Json& config, const Json& settings) {
  Wanted wanted;
  refuse_type(config, wanted);
  read_networks(config, wanted);
  refuse_changes(config, wanted);
  refuse_settings(settings, wanted);
  return wanted;
}

}  // namespace slipway::components::network
