// Inputs of render commands. All problems are collected, so that one run reports all of them: functions that take Findings add
// errors to them and return an empty value.
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

// An object and the file that contains it.
struct Manifest {
  std::string path;
  Json object;
};

// Reads all documents of the files, and of all files below the folders, whatever their suffix. An object (group, kind, namespace
// and name) may occur several times if all copies are equal; one of them is returned.
// Findings: files that are unreadable, empty or not YAML; objects without apiVersion, kind or name; lists; copies that differ.
std::vector<Manifest> load_manifests(sys::Files& files, const std::vector<std::string>& paths, Findings& findings);

// Objects of a kind, in any version of its group.
std::vector<const Manifest*> of_kind(const std::vector<Manifest>& manifests, std::string_view group, std::string_view kind);

struct FeatureGates {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;

  bool is_enabled(std::string_view name) const;
  // "Name=true" for all enabled gates, then "Name=false" for the disabled ones.
  std::vector<std::string> settings() const;

  bool operator==(const FeatureGates&) const = default;
};

// The entry for a version of the payload in status.featureGates of the FeatureGate object.
FeatureGates feature_gates(const std::vector<Manifest>& manifests, std::string_view payload_version, Findings& findings);

// The text of a file that must exist.
std::string read_input(sys::Files& files, const std::string& path, Findings& findings);
// The same as a document; null after an error.
Json read_document(sys::Files& files, const std::string& path, Findings& findings);

// One YAML document of any kind, for callers that stop at the first problem. errors: those of Files::read and parse_yaml
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

// The fields of the install-config that render commands use, from the ConfigMap cluster-config-v1.
struct InstallConfig {
  int control_plane_replicas = 0;
  int arbiter_replicas = 0;
  bool bootstrap_in_place = false;
  std::vector<net::Cidr> machine_networks;
  std::vector<net::IpAddress> virtual_ips;  // of the API and the ingress; they move between machines
  std::vector<std::string> feature_gates;   // "Name=true"
};
InstallConfig parse_install_config(const Json& config_map, const std::string& file, Findings& findings);

// NAME.crt and NAME.key of a folder. Both must exist and belong together.
net::Certificate read_pair(sys::Files& files, const std::string& folder, std::string_view name, Findings& findings);

}  // namespace slipway::components
