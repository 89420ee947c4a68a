// What slipway reads from libvirt's XML, and writes into it. Elements: https://libvirt.org/format.html
// Pure.
#pragma once

#include "base/result.h"
#include "net/ip.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::libvirt {

// Text for an element or an attribute in quotes.
std::string xml_escaped(std::string_view text);

// What slipway records in the metadata of each machine. It identifies the machines of a cluster.
struct MachineMark {
  std::string cluster;    // infraID
  std::string machine;    // "master-0"
  std::string role;       // "bootstrap", "master", "worker"
  std::string after{};    // it starts when the machine with this name is removed; empty: at once
  std::string release{};  // pull spec that the cluster was created with
  std::string release_version{};

  bool operator==(const MachineMark&) const = default;
};

struct Interface {
  std::string mac;
  std::string network;  // empty: a bridge

  bool operator==(const Interface&) const = default;
};

struct DomainFacts {
  std::string virtualization{};       // "kvm", "qemu"
  std::optional<MachineMark> mark{};  // none: not a machine of slipway
  std::vector<std::string> files{};   // absolute paths of disks and of the Ignition config
  std::vector<Interface> interfaces{};
};

struct NetworkFacts {
  std::string bridge;
  std::vector<net::Cidr> addresses{};  // of the host on the bridge, with the length of the network prefix
};

struct PoolFacts {
  std::string type;  // "dir", "logical"
  std::string path;
};

struct VolumeFacts {
  std::string backing_path;  // empty: none
};

// errors of all: invalid: not XML, or without what it must have
Result<DomainFacts> read_domain(std::string_view xml);
Result<NetworkFacts> read_network(std::string_view xml);
Result<PoolFacts> read_pool(std::string_view xml);
Result<VolumeFacts> read_volume(std::string_view xml);

}  // namespace slipway::provider::libvirt
