#include "config/schema/schema.h"

#include "base/number.h"
#include "base/text.h"
#include "config/schema/tables.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Fields metadata_fields() {
  static constexpr Field fields[] = {
      {.name = "name",
       .about = "The name of the cluster: a DNS name of at most 54 characters, the first part of the cluster domain. Some "
                "platforms have more restrictions (no dots on baremetal, vsphere and openstack).",
       .is_required = true},
      {.name = "namespace", .about = "Kept, no effect on the installation."},
      {.name = "labels", .kind = Kind::map, .about = "Kept, no effect on the installation."},
      {.name = "annotations", .kind = Kind::map, .about = "Kept, no effect on the installation."},
      {.name = "creationTimestamp", .about = "Always null. Every Kubernetes object has this field.", .empty = Empty::written},
  };
  return fields;
}

Fields pool_fields() {
  static constexpr Field fields[] = {
      {.name = "name",
       .about = "The name of the pool: master for the control plane, worker for compute (on aws also edge).",
       .otherwise = "master for the control plane",
       .empty = Empty::written},
      {.name = "replicas",
       .kind = Kind::integer,
       .about = "The number of machines. Compute pools may have none. The control plane then also runs applications.",
       .otherwise = "3; 1 for workers on local, 0 for the pool edge",
       .empty = Empty::kept},
      {.name = "hyperthreading",
       .about = "Whether the machines use hardware threads of their CPUs.",
       .fallback = "Enabled",
       .allowed = "Enabled|Disabled",
       .empty = Empty::written},
      {.name = "architecture",
       .about = "The CPU architecture. All pools have the same one, unless the release supports several.",
       .fallback = "amd64",
       .allowed = "amd64|arm64|ppc64le|s390x",
       .empty = Empty::written},
      {.name = "platform",
       .kind = Kind::object,
       .about = "Settings of these machines for the platform of the cluster. Sections of other platforms are rejected.",
       .members = pool_sections,
       .empty = Empty::written},
  };
  return fields;
}

Fields machine_network_fields() {
  static constexpr Field fields[] = {
      {.name = "cidr", .about = "The network, for example 10.0.0.0/16.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields cluster_network_fields() {
  static constexpr Field fields[] = {
      {.name = "cidr",
       .about = "The network of the pods, for example 10.128.0.0/14.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "hostPrefix",
       .kind = Kind::integer,
       .about = "The prefix length of the subnet of each node: 23 gives a node 510 IPv4 addresses. Must be 64 for IPv6.",
       .otherwise = "none with OVNKubernetes and Flannel; 23, and 64 for IPv6, with other plugins and in clusterNetworks"},
      {.name = "hostSubnetLength",
       .kind = Kind::integer,
       .about = "Older form of hostPrefix: the number of address bits for the pods of a node.",
       .instead = "hostPrefix"},
  };
  return fields;
}

Fields networking_fields() {
  static constexpr Field fields[] = {
      {.name = "networkType",
       .about = "The network plugin, by its name in the network operator of the release. Platform local has Flannel and accepts "
                "OVNKubernetes as another name for it.",
       .otherwise = "OVNKubernetes; Flannel on local"},
      {.name = "machineNetwork",
       .kind = Kind::object,
       .is_list = true,
       .about = "The networks of the machines. Two networks, one of each family, make a dual-stack cluster.",
       .otherwise = "10.0.0.0/16; 10.97.77.0/24 on local, 192.168.126.0/24 on libvirt",
       .members = machine_network_fields},
      {.name = "clusterNetwork",
       .kind = Kind::object,
       .is_list = true,
       .about = "The networks of the pods.",
       .otherwise = "10.128.0.0/14 with hostPrefix 23",
       .members = cluster_network_fields},
      {.name = "serviceNetwork",
       .is_list = true,
       .about = "The networks of the Services: one, or one of each family.",
       .otherwise = "172.30.0.0/16"},
      {.name = "clusterNetworkMTU",
       .kind = Kind::integer,
       .about = "The MTU of the pod network, on aws and local: 1000 to 9001.",
       .otherwise = "chosen by the network plugin"},
      {.name = "machineCIDR", .about = "Older form of machineNetwork, for one network.", .instead = "machineNetwork"},
      {.name = "serviceCIDR", .about = "Older form of serviceNetwork, for one network.", .instead = "serviceNetwork"},
      {.name = "clusterNetworks",
       .kind = Kind::object,
       .is_list = true,
       .about = "Older name of clusterNetwork.",
       .members = cluster_network_fields,
       .instead = "clusterNetwork"},
      {.name = "type", .about = "Older name of networkType.", .instead = "networkType"},
  };
  return fields;
}

Fields proxy_fields() {
  static constexpr Field fields[] = {
      {.name = "httpProxy",
       .about = "The proxy for HTTP, for example http://user:password@proxy.example.com:3128.",
       .is_secret = true},
      {.name = "httpsProxy", .about = "The proxy for HTTPS. Its own URL may be http.", .is_secret = true},
      {.name = "noProxy",
       .about = "Destinations that bypass the proxy: addresses, networks and domains, separated by commas, or *. The names and "
                "networks of the cluster are added."},
  };
  return fields;
}

Fields mirror_fields() {
  static constexpr Field fields[] = {
      {.name = "source",
       .about = "The repository in image references, for example quay.io/openshift-release-dev/ocp-release.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "mirrors", .is_list = true, .about = "Mirror repositories, tried in this order before the source."},
  };
  return fields;
}

Fields publishing_fields() {
  static constexpr Field fields[] = {
      {.name = "ingress", .about = "Who can reach the applications.", .fallback = "External", .allowed = "External|Internal"},
      {.name = "apiserver", .about = "Who can reach the API.", .fallback = "External", .allowed = "External|Internal"},
  };
  return fields;
}

Fields in_place_fields() {
  static constexpr Field fields[] = {
      {.name = "installationDisk",
       .about = "The disk to install to, for example /dev/disk/by-id/wwn-0x123.",
       .empty = Empty::written},
  };
  return fields;
}

Fields image_mode_fields() {
  static constexpr Field fields[] = {
      {.name = "policy",
       .about =
           "Where the operating system images of the first machines come from. BuildOnBootstrap: the bootstrap machine builds "
           "that of the control plane, the cluster those of the workers. PreBuilt: images that exist; each MachineOSConfig "
           "names its image. None: the image of the release.",
       .otherwise = "None",
       .allowed = "None|BuildOnBootstrap|PreBuilt"},
  };
  return fields;
}

Fields capability_fields() {
  static constexpr Field fields[] = {
      {.name = "baselineCapabilitySet",
       .about = "The base set of capabilities: None, the set of a version, for example v4.18, or vCurrent for the set of the "
                "release."},
      {.name = "additionalEnabledCapabilities", .is_list = true, .about = "Additional capabilities, by name."},
  };
  return fields;
}

}  // namespace

Fields no_fields() { return {}; }

Fields load_balancer_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "The load balancer of API and routers: virtual addresses of the cluster, or load balancers that the user runs "
                "(UserManaged). With UserManaged the addresses may be outside of the machine network.",
       .otherwise = "OpenShiftManagedDefault",
       .allowed = "OpenShiftManagedDefault|UserManaged"},
  };
  return fields;
}

Fields install_config_fields() {
  static constexpr Field fields[] = {
      {.name = "apiVersion",
       .about = "The version of this file format: v1. v1beta3 and v1beta4 are accepted as v1.",
       .is_required = true},
      {.name = "metadata",
       .kind = Kind::object,
       .about = "The name of the cluster.",
       .members = metadata_fields,
       .is_required = true,
       .empty = Empty::written},
      {.name = "baseDomain",
       .about = "The parent domain of the cluster domain, which is metadata.name.baseDomain. One trailing dot is allowed.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "platform",
       .kind = Kind::object,
       .about = "The platform of the machines: exactly one section, named after the platform.",
       .members = platform_sections,
       .is_required = true},
      {.name = "pullSecret",
       .about = "Credentials for registries: JSON with 'auths', in single quotes.",
       .otherwise = "required; on local {\"auths\":{}}",
       .is_required = true,
       .is_secret = true,
       .empty = Empty::written},
      {.name = "sshKey",
       .about = "Public SSH keys for user core on the machines: lines in the format of authorized_keys.",
       .otherwise = "no logins"},
      {.name = "additionalTrustBundle",
       .about = "PEM certificates of additional authorities that machines trust, for mirrors and proxies."},
      {.name = "additionalTrustBundlePolicy",
       .about = "When the proxy settings of the cluster refer to that bundle: only with a proxy, or always.",
       .fallback = "Proxyonly",
       .allowed = "Proxyonly|Always"},
      {.name = "controlPlane",
       .kind = Kind::object,
       .about = "The machines of the control plane.",
       .otherwise = "3 machines",
       .members = pool_fields},
      {.name = "compute",
       .kind = Kind::object,
       .is_list = true,
       .about = "The pools of machines that run applications. Pool worker is added if there is none.",
       .otherwise = "one pool, worker",
       .members = pool_fields},
      {.name = "networking",
       .kind = Kind::object,
       .about = "The networks of machines, pods and Services. They must not overlap.",
       .members = networking_fields},
      {.name = "proxy",
       .kind = Kind::object,
       .about = "The proxy that machines and platform pods use for outside connections. httpProxy or httpsProxy is required.",
       .otherwise = "none",
       .members = proxy_fields},
      {.name = "imageDigestSources",
       .kind = Kind::object,
       .is_list = true,
       .about = "Mirrors for images that are referenced by digest.",
       .members = mirror_fields},
      {.name = "imageContentSources",
       .kind = Kind::object,
       .is_list = true,
       .about = "Older form of imageDigestSources. Do not use both.",
       .members = mirror_fields,
       .instead = "imageDigestSources"},
      {.name = "publish",
       .about = "Who can reach the API and the applications: everyone, clients in the private network, or as set in "
                "operatorPublishingStrategy. Platforms that publish nothing support only External.",
       .fallback = "External",
       .allowed = "External|Internal|Mixed"},
      {.name = "operatorPublishingStrategy",
       .kind = Kind::object,
       .about = "Separate settings for API and applications, with publish: Mixed.",
       .members = publishing_fields},
      {.name = "fips",
       .kind = Kind::boolean,
       .about = "Whether machines run in FIPS 140 mode. Not on local, whose machines share the kernel of this host.",
       .otherwise = "false"},
      {.name = "cpuPartitioningMode",
       .about = "Whether CPUs can be reserved for platform pods, on all nodes. Cannot be changed later.",
       .otherwise = "None",
       .allowed = "None|AllNodes"},
      {.name = "credentialsMode",
       .about = "How operators get credentials for the platform: created by the cluster (Mint), copied from the installer "
                "(Passthrough), or created by the user (Manual). Only on platforms with such credentials.",
       .otherwise = "the cluster decides; Manual on local",
       .allowed = "Mint|Passthrough|Manual"},
      {.name = "bootstrapInPlace",
       .kind = Kind::object,
       .about = "A single node that bootstraps itself, for create single-node-ignition-config.",
       .members = in_place_fields},
      {.name = "imageMode",
       .kind = Kind::object,
       .about =
           "Operating systems from Containerfiles of yours, from the first boot on. The Containerfiles are in MachineOSConfigs "
           "among the manifests.",
       .otherwise = "none: machines have the operating system of the release",
       .members = image_mode_fields},
      {.name = "capabilities",
       .kind = Kind::object,
       .about = "The optional components of the cluster.",
       .otherwise = "all of the release",
       .members = capability_fields},
      {.name = "featureSet",
       .about = "A set of unsupported features. A cluster with such a set cannot be updated.",
       .otherwise = "the supported features",
       .allowed = "TechPreviewNoUpgrade|DevPreviewNoUpgrade|CustomNoUpgrade"},
      {.name = "featureGates",
       .is_list = true,
       .about = "Individual feature gates, NAME=true or NAME=false, with featureSet: CustomNoUpgrade."},
  };
  return fields;
}

const Field* find_field(Fields fields, std::string_view name) {
  const auto same = [&](const Field& field) { return std::ranges::equal(field.name, name, {}, lower, lower); };
  const auto found = std::ranges::find_if(fields, same);
  return found == fields.end() ? nullptr : &*found;
}

const Field* find_field_at(std::string_view path) {
  Fields fields = install_config_fields();
  const Field* field = nullptr;
  for (const std::string_view name : split(path, '.')) {
    field = find_field(fields, name);
    if (!field) return nullptr;
    fields = field->members ? field->members() : Fields();
  }
  return field;
}

std::vector<std::string_view> allowed_values(const Field& field) {
  return field.allowed.empty() ? std::vector<std::string_view>() : split(field.allowed, '|');
}

Json fallback_value(const Field& field) {
  if (field.kind != Kind::integer) return Json(field.fallback);
  return Json(parse_number<std::int64_t>(field.fallback).value_or(0));
}

}  // namespace slipway::config
