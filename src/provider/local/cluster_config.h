// The records of a local cluster (cluster.json) and of a machine (machine.json).
#pragma once

#include "provider/local/address_plan.h"

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// Forwards a port of the host's loopback address to a port of a machine ("8443:master-0:6443") or of an address in the cluster's
// network that moves between machines ("6443:10.97.77.5:6443").
struct Forward {
  int host_port = 0;
  std::string target;
  int port = 0;

  bool is_address() const { return target.find('.') != std::string::npos; }

  bool operator==(const Forward&) const = default;
};

std::string to_string(const Forward& forward);
Result<Forward> parse_forward(std::string_view text);  // errors: invalid

// Absolute paths of the sources of a release's images; empty: none.
struct Images {
  std::string preload{};   // initial content of a machine's containerd folder (os/preload)
  std::string registry{};  // storage of a registry (slipway-images registry)
  std::string registry_program{};

  bool operator==(const Images&) const = default;
};

// A name that the cluster's name server resolves in addition to the names of machines. "*.apps.demo.example.com" stands for all
// names below apps.demo.example.com.
struct NameRecord {
  std::string name;
  std::string address;

  bool operator==(const NameRecord&) const = default;
};

Result<NameRecord> parse_name_record(std::string_view text);  // "api.demo.example.com=10.97.77.5". errors: invalid
// {"8090"}. errors: invalid: no port, a port twice, a port at which the owner itself serves machines
Result<std::vector<int>> parse_host_ports(const std::vector<std::string>& texts);

// Options for creating a cluster.
struct ClusterOptions {
  std::string os_repo;  // absolute path of the OSTree repository that machines are installed from
  Images images{};
  std::vector<Forward> forwards{};
  std::string network = "10.97.77.0/24";
  std::string domain{};  // of the machines' names; empty: "CLUSTER.internal"
  std::vector<NameRecord> records{};
  std::string host_address = "127.0.0.1";  // address of 127.0.0.0/8 on which forwards listen
  std::string release{};                   // pull spec with a digest; empty: the cluster installs no release
  std::string release_version{};
  bool is_offline = false;                    // as in ClusterConfig
  std::vector<int> host_ports{};              // as in ClusterConfig
  bool has_egress = false;                    // machines and pods reach what the host reaches
  std::string os_registry{};                  // as in ClusterConfig
  std::vector<std::string> other_networks{};  // of pods and Services; egress.h uses none of them
};

struct ClusterConfig {
  std::string name;
  std::string id;  // 12 random hexadecimal digits; the name of the cluster's cgroups
  AddressPlan network;
  std::string os_repo;
  std::vector<Forward> forwards;
  Images images{};
  std::string domain{};
  std::vector<NameRecord> records{};
  std::string host_address = "127.0.0.1";
  std::string os_commit{};  // machine OS of all machines; empty in clusters of older versions, until the next owner starts
  std::string release{};    // as in ClusterOptions; empty in clusters of older versions
  std::string release_version{};
  std::string egress_network{};  // egress.h; empty: none
  int push_port = 5000;          // of host_address: where people push images
  // "registry.demo.example.com:5443": where machines push images of the machine OS; the name server resolves the host. Empty:
  // nowhere, as in clusters of older versions, whose registry has no such socket.
  std::string os_registry{};
  bool is_offline = false;        // its registry asks no other registry
  std::vector<int> host_ports{};  // of 127.0.0.1 on the host, which machines reach at the same ports of the gateway's address
  bool has_own_images = false;    // its registry also has images of people and of other registries; false in older clusters

  bool operator==(const ClusterConfig&) const = default;
};

struct MachineRecord {
  std::string name;
  int number = 0;         // determines the IP and MAC address
  std::string uuid;       // 32 random hexadecimal digits; the machine-id
  std::string after{};    // Ignition and boot wait until the machine with this name is removed; empty: no waiting
  bool is_blank = false;  // its disk was empty (blank.h)

  bool operator==(const MachineRecord&) const = default;
};

// Errors of parse: invalid, with the document's name.
std::string to_text(const ClusterConfig& config);
Result<ClusterConfig> parse_cluster_config(std::string_view text, std::string_view name);
std::string to_text(const MachineRecord& record);
Result<MachineRecord> parse_machine_record(std::string_view text, std::string_view name);

// Whether the text is the checksum of an OSTree commit: 64 hexadecimal digits.
bool is_commit(std::string_view text);

// Checks the name of a cluster or machine: a DNS label (lower-case letters, digits, dashes inside) of at most 40 characters.
// what: "cluster" or "machine". errors: invalid
Result<> check_name(std::string_view what, std::string_view name);

}  // namespace slipway::provider::local
