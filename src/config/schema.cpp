#include "config/schema.h"

#include <utility>

namespace slipway::config {

namespace {

Schema of_kind(Schema::Kind kind) { return {kind, {}, {}, false}; }
Schema any() { return of_kind(Schema::Kind::any); }
Schema text() { return of_kind(Schema::Kind::text); }
Schema integer() { return of_kind(Schema::Kind::integer); }
Schema boolean() { return of_kind(Schema::Kind::boolean); }
Schema object(std::vector<Member> members) { return {Schema::Kind::object, std::move(members), {}, false}; }
Schema list(Schema item) { return {Schema::Kind::list, {}, {std::move(item)}, false}; }
Schema section(Schema schema) {
  schema.null_is_wrong = true;
  return schema;
}

Schema make_schema() {
  const Schema pool = object(
      {{"name", text()}, {"replicas", integer()}, {"hyperthreading", text()}, {"architecture", text()}, {"platform", any()}});
  const Schema cluster_networks = list(object({{"cidr", text()}, {"hostPrefix", integer()}, {"hostSubnetLength", integer()}}));
  const Schema mirrors = list(object({{"source", text()}, {"mirrors", list(text())}}));
  return object({
      {"apiVersion", text()},
      {"metadata",
       object(
           {{"name", text()}, {"namespace", text()}, {"annotations", any()}, {"labels", any()}, {"creationTimestamp", text()}})},
      {"baseDomain", text()},
      {"pullSecret", text()},
      {"sshKey", text()},
      {"additionalTrustBundle", text()},
      {"additionalTrustBundlePolicy", text()},
      {"controlPlane", pool},
      {"compute", list(pool)},
      {"networking", object({{"networkType", text()},
                             {"machineNetwork", list(object({{"cidr", text()}}))},
                             {"clusterNetwork", cluster_networks},
                             {"serviceNetwork", list(text())},
                             {"clusterNetworkMTU", integer()},
                             {"machineCIDR", text()},
                             {"type", text()},
                             {"serviceCIDR", text()},
                             {"clusterNetworks", cluster_networks}})},
      {"platform", object({{"local", section(object({{"apiVIPs", list(text())}, {"ingressVIPs", list(text())}}))},
                           {"none", section(object({}))},
                           {"external", section(object({{"platformName", text()}, {"cloudControllerManager", text()}}))},
                           {"alibabacloud", any()},
                           {"aws", any()},
                           {"azure", any()},
                           {"baremetal", any()},
                           {"gcp", any()},
                           {"ibmcloud", any()},
                           {"kubevirt", any()},
                           {"libvirt", any()},
                           {"nutanix", any()},
                           {"openstack", any()},
                           {"ovirt", any()},
                           {"powervs", any()},
                           {"vsphere", any()}})},
      {"proxy", object({{"httpProxy", text()}, {"httpsProxy", text()}, {"noProxy", text()}})},
      {"imageContentSources", mirrors},
      {"imageDigestSources", mirrors},
      {"publish", text()},
      {"operatorPublishingStrategy", object({{"ingress", text()}, {"apiserver", text()}})},
      {"fips", boolean()},
      {"cpuPartitioningMode", text()},
      {"credentialsMode", text()},
      {"bootstrapInPlace", object({{"installationDisk", text()}})},
      {"capabilities", object({{"baselineCapabilitySet", text()}, {"additionalEnabledCapabilities", list(text())}})},
      {"featureSet", text()},
      {"featureGates", list(text())},
  });
}

}  // namespace

const Schema& install_config_schema() {
  static const Schema schema = make_schema();
  return schema;
}

}  // namespace slipway::config
