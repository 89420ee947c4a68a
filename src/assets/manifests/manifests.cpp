#include "assets/manifests/manifests.h"

#include "assets/manifest_file.h"
#include "assets/manifests/cloud_provider_config.h"
#include "assets/manifests/cluster_config.h"
#include "assets/manifests/infrastructure.h"
#include "assets/platform.h"
#include "base/text.h"
#include "kube/machine_table.h"

namespace slipway::assets {

namespace {

using config::InstallConfig;

constexpr std::string_view config_api = "config.openshift.io/v1";
constexpr std::string_view operator_api = "operator.openshift.io/v1";

JsonObject cluster_object(std::string_view kind) { return object_of(config_api, kind, "", "cluster"); }

// The private DNS zone. The public zone is left out, because only the cloud knows its ID.
Json private_zone(const InstallConfig& config, const ClusterId& id) {
  const std::string given = text_of(config.platform.section, {"hostedZone"});
  if (!given.empty()) return {{"id", given}};
  return {
      {"tags", {{"Name", fmt::format("{}-int", id.infra_id)}, {fmt::format("kubernetes.io/cluster/{}", id.infra_id), "owned"}}}};
}

Json dns(const InstallConfig& config, const ClusterId& id) {
  JsonObject object = cluster_object("DNS");
  JsonObject spec = {{"baseDomain", config.cluster_domain()}, {"platform", {{"type", ""}}}};
  if (config.platform.type == "aws") spec["privateZone"] = private_zone(config, id);
  object["spec"] = std::move(spec);
  return object;
}

Json ingress_platform(const InstallConfig& config) {
  if (config.platform.type != "aws") return {{"type", ""}};
  const std::string given = text_of(config.platform.section, {"lbType"});
  return {{"aws", {{"type", given.empty() ? "Classic" : given}}}, {"type", "AWS"}};
}

Json ingress(const InstallConfig& config, std::string_view type) {
  const bool on_control_plane = type == "None" && config.control_plane.replicas < 3;
  JsonObject object = cluster_object("Ingress");
  object["spec"] = {{"domain", "apps." + config.cluster_domain()}, {"loadBalancer", {{"platform", ingress_platform(config)}}}};
  object["status"] = {{"defaultPlacement", on_control_plane ? "ControlPlane" : "Workers"}};
  return object;
}

bool has_internal_ingress(const InstallConfig& config) {
  if (config.publish != "Mixed") return config.publish == "Internal";
  return find_string(config.effective, {"operatorPublishingStrategy", "ingress"}) == "Internal";
}

Json internal_ingress_controller() {
  JsonObject object = object_of(operator_api, "IngressController", "openshift-ingress-operator", "default");
  object["spec"] = {{"endpointPublishingStrategy", {{"loadBalancer", {{"scope", "Internal"}}}, {"type", "LoadBalancerService"}}}};
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
                    {"externalIP", {{"policy", JsonObject()}}},  // an empty policy forbids external IPs
                    {"networkDiagnostics", {{"mode", ""}, {"sourcePlacement", JsonObject()}, {"targetPlacement", JsonObject()}}}};
  return object;
}

// Network of operator.openshift.io: the MTU.
Json network_operator(const InstallConfig& config) {
  JsonObject object = object_of(operator_api, "Network", "", "cluster");
  object["spec"] = {
      {"defaultNetwork", {{"ovnKubernetesConfig", {{"mtu", config.networking.mtu}}}, {"type", config.networking.network_type}}},
      {"managementState", "Managed"}};
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

void set_owner(JsonObject& object, std::string_view owner) {
  object["metadata"].get_object()["annotations"] = {{"openshift.io/owning-component", owner}};
}

Json machine_config_server_secret(const net::Certificate& server, const ServerToken& token) {
  JsonObject object = secret_object("openshift-machine-config-operator", "machine-config-server-tls", "Opaque",
                                    {{"tls.crt", server.pem},
                                     {"tls.key", server.key.reveal()},
                                     {"token", token.text.reveal()},
                                     {"worker-token", token.worker.reveal()}});
  set_owner(object, "Machine Config Operator");
  return object;
}

// The API does not accept an empty list of mirrors, so it is left out.
JsonArray mirrors(const std::vector<config::MirrorSource>& sources) {
  JsonArray list;
  for (const config::MirrorSource& each : sources) {
    JsonObject entry = {{"source", each.source}};
    if (!each.mirrors.empty()) entry["mirrors"] = array_of(each.mirrors);
    list.push_back(std::move(entry));
  }
  return list;
}

Result<Json> user_ca_bundle(const InstallConfig& config) {
  const std::vector<std::string> certificates =
      TRY(net::split_certificates(config.additional_trust_bundle).context("additionalTrustBundle"));
  JsonObject object = config_map("openshift-config", "user-ca-bundle", {{"ca-bundle.crt", join(certificates, "")}});
  set_owner(object, "End User");
  return Json(std::move(object));
}

// The machine table, for the approver. openshift-install has no such file.
Json machine_addresses(const kube::MachineTable& nodes) {
  return config_map(kube::machine_table_space, kube::machine_table_name, {{"machines", kube::format_machine_table(nodes)}});
}

}  // namespace

Result<CommonManifests> make_common_manifests(const InstallConfig& config, const Environment& environment, const ClusterId& id,
                                              const RootTls& root, const ServerToken& token) {
  const std::string_view type = TRY(platform_type(config));
  CommonManifests made;
  auto add = [&](std::string_view name, const Json& object) {
    made.files.push_back(manifest_file(fmt::format("manifests/{}", name), object));
  };
  add("cluster-config.yaml", cluster_config(config, environment));
  add("cluster-dns-02-config.yml", dns(config, id));
  const Json described = TRY(infrastructure(config, id));
  add("cluster-infrastructure-02-config.yml", described);
  add("cluster-ingress-02-config.yml", ingress(config, type));
  if (has_internal_ingress(config)) add("cluster-ingress-default-ingresscontroller.yaml", internal_ingress_controller());
  add("cluster-network-02-config.yml", network(config));
  if (config.networking.mtu != 0) add("cluster-network-03-config.yml", network_operator(config));
  add("cluster-proxy-01-config.yaml", proxy(config));
  add("cluster-scheduler-02-config.yml", scheduler(config));
  add("cvo-overrides.yaml", cluster_version(config, environment, id));
  add("kube-cloud-config.yaml", secret_object("kube-system", "kube-cloud-cfg", "Opaque", {{"config", ""}}));
  add("kube-system-configmap-root-ca.yaml",
      config_map("kube-system", "root-ca", {{"ca.crt", root.tls.find("root-ca")->second.pem}}));
  add("machine-config-server-tls-secret.yaml",
      machine_config_server_secret(root.tls.find("machine-config-server")->second, token));
  add("openshift-config-secret-pull-secret.yaml",
      secret_object("openshift-config", "pull-secret", "kubernetes.io/dockerconfigjson",
                    {{".dockerconfigjson", pull_secret_text(config)}}));
  if (has_cloud_provider_config(config)) add("cloud-provider-config.yaml", cloud_provider_config(config, id));
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
