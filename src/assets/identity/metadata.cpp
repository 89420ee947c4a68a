#include "assets/identity/metadata.h"

#include "assets/manifest_file.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::assets {

Json custom_feature_set(const config::InstallConfig& config) {
  if (config.feature_gates.empty()) return nullptr;
  JsonArray enabled, disabled;
  for (const std::string& gate : config.feature_gates) {  // "Name=true"
    const std::vector<std::string_view> parts = split(gate, '=');
    (to_lower(parts.back()) == "true" ? enabled : disabled).emplace_back(parts.front());
  }
  return {{"enabled", std::move(enabled)}, {"disabled", std::move(disabled)}};
}

namespace {

using config::InstallConfig;

// The given fields of the platform's section; fields that are missing or empty are left out.
JsonObject selected_fields(const InstallConfig& config, std::initializer_list<std::string_view> keys) {
  JsonObject made;
  for (const std::string_view key : keys) {
    const Json* given = find(config.platform.section, {key});
    if (given && !given->is_null() && *given != Json("")) made[key] = *given;
  }
  return made;
}

JsonObject of_aws(const InstallConfig& config, const ClusterId& id) {
  JsonObject made = selected_fields(config, {"region", "serviceEndpoints", "hostedZoneRole"});
  made["identifier"] = JsonArray{{{fmt::format("kubernetes.io/cluster/{}", id.infra_id), "owned"}},
                                 {{"openshiftClusterID", id.cluster_id}},
                                 {{fmt::format("sigs.k8s.io/cluster-api-provider-aws/cluster/{}", id.infra_id), "owned"}}};
  made["clusterDomain"] = config.cluster_domain();
  return made;
}

// Both addresses are always empty, as in openshift-install: `destroy` asks the host of libvirtURI instead.
JsonObject of_baremetal(const InstallConfig& config, const ClusterId&) {
  return {{"libvirtURI", text_of(config.platform.section, {"libvirtURI"})},
          {"bootstrapProvisioningIP", ""},
          {"provisioningHostIP", ""}};
}

JsonObject of_gcp(const InstallConfig& config, const ClusterId&) {
  JsonObject made = selected_fields(config, {"region", "projectID", "networkProjectID"});
  // With a shared VPC, `destroy` looks up the private zone by its domain.
  const bool is_shared = made.contains("networkProjectID") && !text_of(config.platform.section, {"network"}).empty();
  if (is_shared) made["privateZoneDomain"] = config.cluster_domain() + ".";
  return made;
}

JsonObject of_kubevirt(const InstallConfig& config, const ClusterId& id) {
  JsonObject made = selected_fields(config, {"namespace"});
  made["labels"] = {{fmt::format("tenantcluster-{}-machine.openshift.io", id.infra_id), "owned"}};
  return made;
}

JsonObject of_libvirt(const InstallConfig& config, const ClusterId&) {
  return {{"uri", text_of(config.platform.section, {"URI"})}};
}

JsonObject of_local(const InstallConfig& config, const ClusterId&) {
  return {{"apiVIPs", array_of(config::api_vips(config))}, {"ingressVIPs", array_of(config::ingress_vips(config))}};
}

// The value is the infra ID, not the UUID: OpenShift's installer tags resources with the infra ID, and `destroy` looks them up by
// that tag.
JsonObject of_openstack(const InstallConfig& config, const ClusterId& id) {
  JsonObject made = selected_fields(config, {"cloud"});
  made["identifier"] = {{"openshiftClusterID", id.infra_id}};
  return made;
}

JsonObject of_ovirt(const InstallConfig& config, const ClusterId&) {
  return {{"cluster_id", text_of(config.platform.section, {"ovirt_cluster_id"})}, {"remove_template", true}};
}

constexpr int https_port = 443;

JsonObject of_vsphere(const InstallConfig& config, const ClusterId&) {
  JsonArray vcenters;
  for (const Json& each : find_array(config.platform.section, {"vcenters"})) {
    JsonObject made = {
        {"vCenter", text_of(each, {"server"})}, {"username", text_of(each, {"user"})}, {"password", text_of(each, {"password"})}};
    // openshift-install does not write it and ignores it.
    if (const int port = integer_of(each, {"port"}); port != 0 && port != https_port) made["port"] = port;
    vcenters.push_back(std::move(made));
  }
  return {{"terraform_platform", "vsphere"}, {"VCenters", std::move(vcenters)}};
}

// Platforms on which the user creates the machines have no row.
struct Row {
  std::string_view platform;
  JsonObject (*make)(const InstallConfig&, const ClusterId&);
};
constexpr Row rows[] = {
    {"aws", of_aws},     {"baremetal", of_baremetal}, {"gcp", of_gcp},     {"kubevirt", of_kubevirt}, {"libvirt", of_libvirt},
    {"local", of_local}, {"openstack", of_openstack}, {"ovirt", of_ovirt}, {"vsphere", of_vsphere}};

}  // namespace

Metadata make_metadata(const config::InstallConfig& config, const ClusterId& id) {
  JsonObject document = {{"clusterName", config.name}, {"clusterID", id.cluster_id}, {"infraID", id.infra_id}};
  const Row* row = std::ranges::find(rows, config.platform.type, &Row::platform);
  if (row != std::end(rows)) document[row->platform] = row->make(config, id);
  document["featureSet"] = config.feature_set;
  document["customFeatureSet"] = custom_feature_set(config);
  return {std::move(document)};
}

}  // namespace slipway::assets
