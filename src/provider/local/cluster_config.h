// What a local cluster is made with, cluster.json, and the record of a machine, machine.json.
#pragma once

#include "provider/local/address_plan.h"

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// A port of the host's loopback address that leads to a port of a machine: "8443:master-0:6443".
struct Forward {
  int host_port = 0;
  std::string machine;
  int port = 0;

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

struct ClusterConfig {
  std::string name;
  std::string id;  // 12 hexadecimal digits, drawn; names the cluster's cgroups
  AddressPlan network;
  std::string os_repo;  // absolute path of the OSTree repository that machines are installed from
  std::vector<Forward> forwards;
  Images images{};

  bool operator==(const ClusterConfig&) const = default;
};

struct MachineRecord {
  std::string name;
  int number = 0;    // its address and hardware address
  std::string uuid;  // 32 hexadecimal digits, drawn; its machine-id

  bool operator==(const MachineRecord&) const = default;
};

// Errors of parse: invalid, with the document's name.
std::string to_text(const ClusterConfig& config);
Result<ClusterConfig> parse_cluster_config(std::string_view text, std::string_view name);
std::string to_text(const MachineRecord& record);
Result<MachineRecord> parse_machine_record(std::string_view text, std::string_view name);

// A name of a cluster or a machine: a DNS label (lower-case letters, digits, dashes inside) of at most 40 characters.
// errors: invalid, "a machine's name must be ..., 'M_0' is not"
Result<> check_name(std::string_view what, std::string_view name);

// So many hexadecimal digits of the kernel's random numbers.
Result<std::string> random_hex(std::size_t digits);

}  // namespace slipway::provider::local
