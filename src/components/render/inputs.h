// What render commands read. Everything that is wrong with their inputs is collected, so that one run names it all: the functions
// that take Findings add to them and return something empty.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "net/ip.h"
#include "net/x509.h"
#include "sys/files.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// An object and the file it was read from.
struct Manifest {
  std::string path;
  Json object;
};

// Reads files, and folders with all files below them, whatever their suffix, and every document of a file. The same group, kind,
// namespace and name may be there more than once if the objects are equal; one of them is returned.
// Findings: what cannot be read or is no YAML, empty files, objects without apiVersion, kind or name, lists, unequal ones.
std::vector<Manifest> load_manifests(sys::Files& files, const std::vector<std::string>& paths, Findings& findings);

// Objects of a kind, of any version of its group.
std::vector<const Manifest*> of_kind(const std::vector<Manifest>& manifests, std::string_view group, std::string_view kind);

struct FeatureGates {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;

  bool is_enabled(std::string_view name) const;
  // "Name=true" for the enabled ones, then "Name=false" for the others.
  std::vector<std::string> settings() const;

  bool operator==(const FeatureGates&) const = default;
};

// The entry of status.featureGates of the FeatureGate object for a version of the payload.
FeatureGates feature_gates(const std::vector<Manifest>& manifests, std::string_view payload_version, Findings& findings);

// A file that has to be there.
std::string read_input(sys::Files& files, const std::string& path, Findings& findings);
// The same as a document, null when it is none.
Json read_document(sys::Files& files, const std::string& path, Findings& findings);

// One YAML document of any kind, for those that stop at the first problem. errors: those of Files::read and parse_yaml
Result<Json> read_yaml(sys::Files& files, const std::string& path);

// The Network object (config.openshift.io/v1).
struct ClusterNetwork {
  net::Cidr cidr;
  int host_prefix = 0;
};
struct Network {
  std::string type;  // "OVNKubernetes", "Flannel"
  std::vector<ClusterNetwork> cluster;
  std::vector<net::Cidr> service;

  std::vector<std::string> cluster_cidrs() const;
  std::vector<std::string> service_cidrs() const;
  bool is_v4() const { return service.empty() || service.front().is_v4(); }  // the first service network decides
};
Network parse_network(const Json& object, const std::string& file, Findings& findings);

// The Infrastructure object (config.openshift.io/v1).
struct Infrastructure {
  std::string platform{};            // status.platformStatus.type, "None"
  std::string ibm_cloud_provider{};  // status.platformStatus.ibmcloud.providerType, "VPC"
  bool single_replica = false;       // status.controlPlaneTopology
};
Infrastructure parse_infrastructure(const Json& object, const std::string& file, Findings& findings);

// The install-config in the ConfigMap cluster-config-v1, as far as render commands use it.
struct InstallConfig {
  int control_plane_replicas = 0;
  int arbiter_replicas = 0;
  bool bootstrap_in_place = false;
  std::vector<net::Cidr> machine_networks;
  std::vector<net::IpAddress> virtual_ips;  // of the API and the ingress; they move from machine to machine
  std::vector<std::string> feature_gates;   // "Name=true"
};
InstallConfig parse_install_config(const Json& config_map, const std::string& file, Findings& findings);

// NAME.crt and NAME.key of a folder; both have to be there and belong together.
net::Certificate read_pair(sys::Files& files, const std::string& folder, std::string_view name, Findings& findings);

}  // namespace slipway::components
