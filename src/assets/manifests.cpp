#include "assets/manifests.h"

#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "base/digest.h"
#include "base/sorted_keys.h"
#include "base/text.h"
#include "base/yaml.h"

namespace slipway::assets {

namespace {

using config::InstallConfig;

constexpr std::string_view config_api = "config.openshift.io/v1";

JsonObject cluster_object(std::string_view kind) { return object_of(config_api, kind, "", "cluster"); }

JsonArray array_of(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

Json cluster_config(const InstallConfig& config) {
  JsonObject object = object_of("v1", "ConfigMap", "kube-system", "cluster-config-v1");
  object["metadata"].get_object()["annotations"] = {
      {"kubernetes.io/description", "What the cluster was installed from. Changing it here changes nothing in the cluster."}};
  object["data"] = {{"install-config", emit_yaml(sorted_keys(public_config(config)))}};
  return object;
}

Json dns(const InstallConfig& config) {
  JsonObject object = cluster_object("DNS");
  object["spec"] = {{"baseDomain", config.cluster_domain()}, {"platform", {{"type", ""}}}};
  return object;
}

Json infrastructure(const InstallConfig& config, const ClusterId& id, std::string_view type) {
  JsonObject platform_spec = {{"type", type}};
  JsonObject platform_status = {{"type", type}};
  if (type == "External") {
    const std::string_view name = find_string(config.platform.section, {"platformName"}).value_or("Unknown");
    const bool manager = find_string(config.platform.section, {"cloudControllerManager"}).value_or("") == "External";
    platform_spec["external"] = {{"platformName", name}};
    platform_status["external"] = {{"cloudControllerManager", {{"state", manager ? "External" : "None"}}}};
  }
  JsonObject object = cluster_object("Infrastructure");
  object["spec"] = {{"cloudConfig", {{"name", ""}}}, {"platformSpec", std::move(platform_spec)}};
  object["status"] = {{"infrastructureName", id.infra_id},
                      {"apiServerURL", fmt::format("https://api.{}:6443", config.cluster_domain())},
                      {"apiServerInternalURI", fmt::format("https://api-int.{}:6443", config.cluster_domain())},
                      {"etcdDiscoveryDomain", ""},
                      {"controlPlaneTopology", control_plane_topology(config)},
                      {"infrastructureTopology", infrastructure_topology(config)},
                      {"cpuPartitioning", config.cpu_partitioning_mode},
                      {"platform", type},
                      {"platformStatus", std::move(platform_status)}};
  return object;
}

Json ingress(const InstallConfig& config, std::string_view type) {
  const bool on_control_plane = type == "None" && config.control_plane.replicas < 3;
  JsonObject object = cluster_object("Ingress");
  object["spec"] = {{"domain", "apps." + config.cluster_domain()}, {"loadBalancer", {{"platform", {{"type", ""}}}}}};
  object["status"] = {{"defaultPlacement", on_control_plane ? "ControlPlane" : "Workers"}};
  return object;
}

Json network(const InstallConfig& config) {
  JsonArray pods;
  for (const config::ClusterNetwork& range : config.networking.cluster_network) {
    pods.push_back({{"cidr", range.cidr}, {"hostPrefix", range.host_prefix}});
  }
  JsonObject object = cluster_object("Network");
  object["spec"] = {{"clusterNetwork", std::move(pods)},
                    {"serviceNetwork", array_of(config.networking.service_network)},
                    {"networkType", config.networking.network_type},
                    {"externalIP", {{"policy", JsonObject()}}},  // nobody may ask for an external address
                    {"networkDiagnostics", {{"mode", ""}, {"sourcePlacement", JsonObject()}, {"targetPlacement", JsonObject()}}}};
  return object;
}

bool trusts_bundle(const InstallConfig& config) {
  return !config.additional_trust_bundle.empty() && (config.proxy || config.additional_trust_bundle_policy == "Always");
}

Json proxy(const InstallConfig& config) {
  auto urls = [&](const std::string& no_proxy) {
    JsonObject members;
    if (!config.proxy->http_proxy.empty()) members["httpProxy"] = config.proxy->http_proxy;
    if (!config.proxy->https_proxy.empty()) members["httpsProxy"] = config.proxy->https_proxy;
    if (!no_proxy.empty()) members["noProxy"] = no_proxy;
    return members;
  };
  JsonObject object = cluster_object("Proxy");
  JsonObject spec = config.proxy ? urls(config.proxy->no_proxy) : JsonObject();
  spec["trustedCA"] = {{"name", trusts_bundle(config) ? "user-ca-bundle" : ""}};
  object["spec"] = std::move(spec);
  if (config.proxy) object["status"] = urls(no_proxy(config));
  return object;
}

Json scheduler(const InstallConfig& config) {
  JsonObject object = cluster_object("Scheduler");
  object["spec"] = {{"mastersSchedulable", config.compute_replicas() == 0},
                    {"policy", {{"name", ""}}},
                    {"profileCustomizations", {{"dynamicResourceAllocation", ""}}}};
  return object;
}

// "stable-4.18" for "4.18.3"
std::string channel(std::string_view version) {
  const std::vector<std::string_view> parts = split(version, '.');
  return parts.size() < 2 ? "" : fmt::format("stable-{}.{}", parts[0], parts[1]);
}

Json cluster_version(const InstallConfig& config, const Environment& environment, const ClusterId& id) {
  JsonObject object = object_of(config_api, "ClusterVersion", "openshift-cluster-version", "version");
  JsonObject spec = {{"channel", channel(environment.release_version)}, {"clusterID", id.cluster_id}};
  if (config.capabilities.is_object()) spec["capabilities"] = config.capabilities;
  object["spec"] = std::move(spec);
  return object;
}

Json secret(std::string_view name_space, std::string_view name, std::string_view type, JsonObject data) {
  JsonObject object = object_of("v1", "Secret", name_space, name);
  object["type"] = type;
  object["data"] = std::move(data);
  return object;
}

Json config_map(std::string_view name_space, std::string_view name, JsonObject data) {
  JsonObject object = object_of("v1", "ConfigMap", name_space, name);
  object["data"] = std::move(data);
  return object;
}

JsonArray mirrors(const std::vector<config::MirrorSource>& sources) {
  JsonArray list;
  for (const config::MirrorSource& each : sources) list.push_back({{"source", each.source}, {"mirrors", array_of(each.mirrors)}});
  return list;
}

Result<Json> user_ca_bundle(const InstallConfig& config) {
  const std::vector<std::string> certificates =
      TRY(net::split_certificates(config.additional_trust_bundle).context("additionalTrustBundle"));
  Json object = config_map("openshift-config", "user-ca-bundle", {{"ca-bundle.crt", join(certificates, "")}});
  object.get_object()["metadata"].get_object()["annotations"] = {{"openshift.io/owning-component", "End User"}};
  return object;
}

// Which machines may join, for the approver (design 12.9); ours, the installer that users know has no such file.
Json machine_addresses(const std::vector<Environment::Node>& nodes) {
  JsonArray machines;
  for (const Environment::Node& node : nodes) {
    machines.push_back({{"name", node.name}, {"role", node.role}, {"addresses", array_of(node.addresses)}});
  }
  return config_map("openshift-config", "machine-addresses", {{"machines", emit_json(machines, JsonStyle::compact)}});
}

}  // namespace

Result<CommonManifests> make_common_manifests(const InstallConfig& config, const Environment& environment, const ClusterId& id,
                                              const Tls& tls, const ServerToken& token) {
  const std::string_view type = TRY(platform_type(config));
  const net::Certificate& server = tls.find("machine-config-server")->second;
  const std::string pull_secret = base64_encode(pull_secret_text(config));
  CommonManifests made;
  auto add = [&](std::string_view name, const Json& object) {
    made.files.push_back(manifest_file(fmt::format("manifests/{}", name), object));
  };
  add("cluster-config.yaml", cluster_config(config));
  add("cluster-dns-02-config.yml", dns(config));
  add("cluster-infrastructure-02-config.yml", infrastructure(config, id, type));
  add("cluster-ingress-02-config.yml", ingress(config, type));
  add("cluster-network-02-config.yml", network(config));
  add("cluster-proxy-01-config.yaml", proxy(config));
  add("cluster-scheduler-02-config.yml", scheduler(config));
  add("cvo-overrides.yaml", cluster_version(config, environment, id));
  add("kube-cloud-config.yaml", secret("kube-system", "kube-cloud-cfg", "Opaque", {{"config", ""}}));
  add("kube-system-configmap-root-ca.yaml", config_map("kube-system", "root-ca", {{"ca.crt", tls.find("root-ca")->second.pem}}));
  add("machine-config-server-tls-secret.yaml", secret("openshift-machine-config-operator", "machine-config-server-tls", "Opaque",
                                                      {{"tls.crt", base64_encode(server.pem)},
                                                       {"tls.key", base64_encode(server.key.reveal())},
                                                       {"token", base64_encode(token.text.reveal())}}));
  add("openshift-config-secret-pull-secret.yaml",
      secret("openshift-config", "pull-secret", "kubernetes.io/dockerconfigjson", {{".dockerconfigjson", pull_secret}}));
  if (!config.additional_trust_bundle.empty()) {
    const Json bundle = TRY(user_ca_bundle(config));
    add("user-ca-bundle-config.yaml", bundle);
  }
  if (!config.image_content_sources.empty()) {
    JsonObject policy = object_of("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", "", "image-policy");
    policy["spec"] = {{"repositoryDigestMirrors", mirrors(config.image_content_sources)}};
    add("image-content-source-policy.yaml", policy);
  }
  if (!config.image_digest_sources.empty()) {
    JsonObject set = object_of(config_api, "ImageDigestMirrorSet", "", "image-digest-mirror");
    set["spec"] = {{"imageDigestMirrors", mirrors(config.image_digest_sources)}};
    add("image-digest-mirror-set.yaml", set);
  }
  if (!environment.nodes.empty()) add("machine-addresses.yaml", machine_addresses(environment.nodes));
  return made;
}

}  // namespace slipway::assets
