#include "config/schema.h"

#include "base/number.h"
#include "base/text.h"
#include "config/schema_tables.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Fields metadata_fields() {
  static constexpr Field fields[] = {
      {.name = "name",
       .about = "The cluster's name: a DNS name of 54 characters at most, the first part of the cluster's domain. Platforms may "
                "ask for more (no dots on baremetal, vsphere and openstack).",
       .is_required = true},
      {.name = "namespace", .about = "Kept, and without effect on the installation."},
      {.name = "labels", .kind = Kind::map, .about = "Kept, and without effect on the installation."},
      {.name = "annotations", .kind = Kind::map, .about = "Kept, and without effect on the installation."},
      {.name = "creationTimestamp",
       .about = "Always null; there because every Kubernetes object has it.",
       .empty = Empty::written},
  };
  return fields;
}

Fields pool_fields() {
  static constexpr Field fields[] = {
      {.name = "name",
       .about = "The pool's role: master for the control plane, worker for compute (on aws also edge).",
       .otherwise = "master for the control plane",
       .empty = Empty::written},
      {.name = "replicas",
       .kind = Kind::integer,
       .about = "How many machines. Compute pools may have none; the control plane then carries what people run.",
       .otherwise = "3; 1 for workers on local, 0 for the pool edge",
       .empty = Empty::kept},
      {.name = "hyperthreading",
       .about = "Whether the machines use their processors' hardware threads.",
       .fallback = "Enabled",
       .allowed = "Enabled|Disabled",
       .empty = Empty::written},
      {.name = "architecture",
       .about = "The machines' processors. All pools have the same unless the release is for several.",
       .fallback = "amd64",
       .allowed = "amd64|arm64|ppc64le|s390x",
       .empty = Empty::written},
      {.name = "platform",
       .kind = Kind::object,
       .about = "What these machines are like on the cluster's platform; other platforms' sections are refused.",
       .members = pool_sections,
       .empty = Empty::written},
  };
  return fields;
}

Fields machine_network_fields() {
  static constexpr Field fields[] = {
      {.name = "cidr", .about = "The network, as in 10.0.0.0/16.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields cluster_network_fields() {
  static constexpr Field fields[] = {
      {.name = "cidr",
       .about = "The network that pods get their addresses from, as in 10.128.0.0/14.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "hostPrefix",
       .kind = Kind::integer,
       .about = "The prefix length of the part that one node gets: 23 leaves it 510 addresses of IPv4; 64 is a must for IPv6."},
      {.name = "hostSubnetLength",
       .kind = Kind::integer,
       .about = "The older form of hostPrefix: the number of bits that are left for the pods of a node.",
       .instead = "hostPrefix"},
  };
  return fields;
}

Fields networking_fields() {
  static constexpr Field fields[] = {
      {.name = "networkType",
       .about =
           "The network of pods, by the name that the release's network operator knows. Platform local has Flannel and takes "
           "OVNKubernetes as another word for it.",
       .otherwise = "OVNKubernetes; Flannel on local"},
      {.name = "machineNetwork",
       .kind = Kind::object,
       .is_list = true,
       .about = "Where the machines are. Two networks, one of each family, make a dual-stack cluster.",
       .otherwise = "10.0.0.0/16; 10.97.77.0/24 on local, 192.168.126.0/24 on libvirt",
       .members = machine_network_fields},
      {.name = "clusterNetwork",
       .kind = Kind::object,
       .is_list = true,
       .about = "Where pods get their addresses from.",
       .otherwise = "10.128.0.0/14 with hostPrefix 23",
       .members = cluster_network_fields},
      {.name = "serviceNetwork",
       .is_list = true,
       .about = "Where Services get their addresses from: one network, or one of each family.",
       .otherwise = "172.30.0.0/16"},
      {.name = "clusterNetworkMTU",
       .kind = Kind::integer,
       .about = "The largest packet in the network of pods, on aws and local: 1000 to 9001.",
       .otherwise = "the network's own choice"},
      {.name = "machineCIDR", .about = "The older form of machineNetwork, for one network.", .instead = "machineNetwork"},
      {.name = "serviceCIDR", .about = "The older form of serviceNetwork, for one network.", .instead = "serviceNetwork"},
      {.name = "clusterNetworks",
       .kind = Kind::object,
       .is_list = true,
       .about = "The older name of clusterNetwork.",
       .members = cluster_network_fields,
       .instead = "clusterNetwork"},
      {.name = "type", .about = "The older name of networkType.", .instead = "networkType"},
  };
  return fields;
}

Fields proxy_fields() {
  static constexpr Field fields[] = {
      {.name = "httpProxy",
       .about = "The proxy for plain HTTP, as in http://user:password@proxy.example.com:3128.",
       .is_secret = true},
      {.name = "httpsProxy", .about = "The proxy for HTTPS; its own URL may be http.", .is_secret = true},
      {.name = "noProxy",
       .about =
           "What is reached without the proxy: addresses, networks and domains with commas between them, or *. The cluster's "
           "own names and networks are added."},
  };
  return fields;
}

Fields mirror_fields() {
  static constexpr Field fields[] = {
      {.name = "source",
       .about = "The repository that images are named after, as in quay.io/openshift-release-dev/ocp-release.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "mirrors", .is_list = true, .about = "Repositories with the same images, tried in this order before the source."},
  };
  return fields;
}

Fields publishing_fields() {
  static constexpr Field fields[] = {
      {.name = "ingress", .about = "Who reaches the applications.", .fallback = "External", .allowed = "External|Internal"},
      {.name = "apiserver", .about = "Who reaches the API.", .fallback = "External", .allowed = "External|Internal"},
  };
  return fields;
}

Fields in_place_fields() {
  static constexpr Field fields[] = {
      {.name = "installationDisk",
       .about = "The disk that the operating system is written to, as in /dev/disk/by-id/wwn-0x123.",
       .empty = Empty::written},
  };
  return fields;
}

Fields capability_fields() {
  static constexpr Field fields[] = {
      {.name = "baselineCapabilitySet",
       .about = "The capabilities to begin with: None, those of a version as in v4.18, or vCurrent for those of the release."},
      {.name = "additionalEnabledCapabilities", .is_list = true, .about = "Capabilities beyond the baseline, by name."},
  };
  return fields;
}

}  // namespace

Fields no_fields() { return {}; }

Fields load_balancer_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "Who balances the API and the routers: the cluster's own virtual addresses, or balancers that the user runs "
                "(UserManaged); the addresses may then be outside of the machines' network.",
       .otherwise = "OpenShiftManagedDefault",
       .allowed = "OpenShiftManagedDefault|UserManaged"},
  };
  return fields;
}

Fields install_config_fields() {
  static constexpr Field fields[] = {
      {.name = "apiVersion", .about = "The form of this file: v1. v1beta3 and v1beta4 are read as v1.", .is_required = true},
      {.name = "metadata",
       .kind = Kind::object,
       .about = "Names the cluster.",
       .members = metadata_fields,
       .is_required = true,
       .empty = Empty::written},
      {.name = "baseDomain",
       .about = "The domain in which the cluster gets its own: metadata.name.baseDomain. One dot at its end is fine.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "platform",
       .kind = Kind::object,
       .about = "Where the machines are: exactly one section, named after the platform.",
       .members = platform_sections,
       .is_required = true},
      {.name = "pullSecret",
       .about = "Credentials for registries, as JSON with 'auths', in single quotes.",
       .otherwise = "needed; on local {\"auths\":{}}",
       .is_required = true,
       .is_secret = true,
       .empty = Empty::written},
      {.name = "sshKey",
       .about = "Public keys of those who may log in to the machines as core: lines as in authorized_keys.",
       .otherwise = "nobody may"},
      {.name = "additionalTrustBundle",
       .about = "PEM certificates of authorities that machines trust beside their own, for mirrors and proxies."},
      {.name = "additionalTrustBundlePolicy",
       .about = "When the cluster's proxy settings name that bundle: only where there is a proxy, or always.",
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
       .about = "The pools of machines that carry what people run. A pool worker is added where there is none.",
       .otherwise = "one pool, worker",
       .members = pool_fields},
      {.name = "networking",
       .kind = Kind::object,
       .about = "The networks of machines, pods and Services; they may not overlap.",
       .members = networking_fields},
      {.name = "proxy",
       .kind = Kind::object,
       .about = "The proxy through which machines and pods of the platform reach the world; httpProxy or httpsProxy has to be "
                "there.",
       .otherwise = "none",
       .members = proxy_fields},
      {.name = "imageDigestSources",
       .kind = Kind::object,
       .is_list = true,
       .about = "Where else images can be read that are named by digest.",
       .members = mirror_fields},
      {.name = "imageContentSources",
       .kind = Kind::object,
       .is_list = true,
       .about = "The older form of imageDigestSources; not both.",
       .members = mirror_fields,
       .instead = "imageDigestSources"},
      {.name = "publish",
       .about = "Who reaches the API and the applications: everybody, those inside of the private network, or what "
                "operatorPublishingStrategy says. Where the platform publishes nothing only External is possible.",
       .fallback = "External",
       .allowed = "External|Internal|Mixed"},
      {.name = "operatorPublishingStrategy",
       .kind = Kind::object,
       .about = "Publishing of API and applications each, with publish: Mixed.",
       .members = publishing_fields},
      {.name = "fips",
       .kind = Kind::boolean,
       .about = "Whether machines use cryptography that is validated for FIPS 140; not on local, whose machines share this "
                "host's kernel.",
       .otherwise = "false"},
      {.name = "cpuPartitioningMode",
       .about = "Whether processors can be set aside for the platform's own pods, on all nodes. Cannot change later.",
       .otherwise = "None",
       .allowed = "None|AllNodes"},
      {.name = "credentialsMode",
       .about =
           "How operators get their credentials for the platform: made by the cluster, the installer's passed on, or made by "
           "the user beforehand. Only where the platform has such credentials.",
       .otherwise = "the cluster finds out; Manual on local",
       .allowed = "Mint|Passthrough|Manual"},
      {.name = "bootstrapInPlace",
       .kind = Kind::object,
       .about = "A single node that is its own bootstrap machine, for create single-node-ignition-config.",
       .members = in_place_fields},
      {.name = "capabilities",
       .kind = Kind::object,
       .about = "Which optional parts of the platform the cluster has.",
       .otherwise = "all of the release's",
       .members = capability_fields},
      {.name = "featureSet",
       .about = "Features beyond the supported ones. A cluster with any of these cannot be updated.",
       .otherwise = "the supported features",
       .allowed = "TechPreviewNoUpgrade|DevPreviewNoUpgrade|CustomNoUpgrade"},
      {.name = "featureGates",
       .is_list = true,
       .about = "Single features, as NAME=true or NAME=false, with featureSet: CustomNoUpgrade."},
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
