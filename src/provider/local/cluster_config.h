// What a local cluster is made with, cluster.json, and the record of a machine, machine.json.
#pragma once

#include "provider/local/address_plan.h"

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// A port of the host's loopback address that leads into the cluster's network, to a port of a machine ("8443:master-0:6443") or
// of an address that machines hold in turn ("6443:10.97.77.5:6443").
struct Forward {
  int host_port = 0;
  std::string target;
  int port = 0;

  bool is_address() const { return target.find('.') != std::string::npos; }

  bool operator==(const Forward&) const = default;
};

std::string to_string(const Forward& forward);
Result<Forward> parse_forward(std::string_view text);  // errors: invalid

// Where a cluster has the images of its release from, absolute paths; empty where there are none.
struct Images {
  std::string preload{};   // folder that a machine's containerd starts with (os/preload)
  std::string registry{};  // storage of a registry (slipway-images registry)
  std::string registry_program{};

  bool operator==(const Images&) const = default;
};

// A name that the cluster's name server knows besides those of machines. "*.apps.demo.example.com" is everything below.
struct NameRecord {
  std::string name;
  std::string address;

  bool operator==(const NameRecord&) const = default;
};

// What whoever makes a cluster may choose.
struct ClusterOptions {
  std::string os_repo;  // absolute path of the OSTree repository that machines are installed from
  Images images{};
  std::vector<Forward> forwards{};
  std::string network = "10.97.77.0/24";
  std::string domain{};  // of machines' names; "CLUSTER.internal" when empty
  std::vector<NameRecord> records{};
  std::string host_address = "127.0.0.1";  // where forwards listen, of 127.0.0.0/8
  std::string release{};                   // image by digest that the cluster installs; empty where it installs none
  std::string release_version{};
};

struct ClusterConfig {
  std::string name;
  std::string id;  // 12 hexadecimal digits, drawn; names the cluster's cgroups
  AddressPlan network;
  std::string os_repo;
  std::vector<Forward> forwards;
  Images images{};
  std::string domain{};
  std::vector<NameRecord> records{};
  std::string host_address = "127.0.0.1";
  std::string os_commit{};  // that all of its machines are made of; empty in clusters of before, until their next owner starts
  std::string release{};    // as ClusterOptions'; empty in clusters of before
  std::string release_version{};

  bool operator==(const ClusterConfig&) const = default;
};

struct MachineRecord {
  std::string name;
  int number = 0;       // its address and hardware address
  std::string uuid;     // 32 hexadecimal digits, drawn; its machine-id
  std::string after{};  // the machine that has to be gone before Ignition runs and this one boots; empty: none

  bool operator==(const MachineRecord&) const = default;
};

// Errors of parse: invalid, with the document's name.
std::string to_text(const ClusterConfig& config);
Result<ClusterConfig> parse_cluster_config(std::string_view text, std::string_view name);
std::string to_text(const MachineRecord& record);
Result<MachineRecord> parse_machine_record(std::string_view text, std::string_view name);

// Whether a text is the checksum of an OSTree commit: 64 hexadecimal digits.
bool is_commit(std::string_view text);

// A name of a cluster or a machine: a DNS label (lower-case letters, digits, dashes inside) of at most 40 characters.
// errors: invalid, "a machine's name must be ..., 'M_0' is not"
Result<> check_name(std::string_view what, std::string_view name);

}  // namespace slipway::provider::local
