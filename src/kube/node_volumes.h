// Local volumes of nodes: what the storage operator orders of a node, and what the node reports. Each is a ConfigMap per node in
// namespace openshift-cluster-storage-operator, with one writer:
//
//   wanted-NODE  of the storage operator, key `volumes`: {"pvc-1":{"order":"make","bytes":1073741824},...}
//   state-NODE   of the machine-config-daemon, key `state`:
//                {"size":...,"free":...,"shared":true,"volumes":{"pvc-1":{"state":"ready"},...},"unclaimed":["pvc-9"]}
//
// A node may be in the hands of an attacker, so nothing in its report may reach another node or grow without limit. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::kube {

inline constexpr std::string_view volumes_space = "openshift-cluster-storage-operator";

// On each node; a volume is a folder in it with the name of its PersistentVolume. It can be a file system of its own.
inline constexpr std::string_view volumes_folder = "/var/lib/slipway/volumes";

// Of one node. Objects of a ConfigMap are limited to 1 MiB.
inline constexpr std::size_t max_volumes = 1000;

struct VolumeOrder {
  enum class Kind {
    make,    // create the folder, and report `ready` or `refused`
    keep,    // a PersistentVolume exists: never create or remove anything
    remove,  // remove the folder with its content, and report `removed`
  };
  Kind kind = Kind::keep;
  std::int64_t bytes = 0;  // requested

  bool operator==(const VolumeOrder&) const = default;
};
using VolumeOrders = std::map<std::string, VolumeOrder>;  // by the name of the volume

struct VolumeState {
  enum class Kind {
    ready,     // the folder exists
    refused,   // `make` was not carried out
    missing,   // `keep`, but there is no folder
    removing,  // still, or again after a failure
    removed,   // nothing is left
  };
  Kind kind = Kind::ready;
  std::string reason{};  // of refused, and of a removal that failed

  bool operator==(const VolumeState&) const = default;
};

struct NodeStorage {
  std::int64_t size = 0;   // of the file system, in bytes
  std::int64_t free = 0;   // what new volumes can get of it now, see free_for_volumes; rounded down, to be written rarely
  bool is_shared = false;  // the kubelet and images are on the same file system
  std::map<std::string, VolumeState> volumes{};  // every ordered one
  std::vector<std::string> unclaimed{};          // folders that no order names

  bool operator==(const NodeStorage&) const = default;
};

// Annotation of a PersistentVolume that is such a folder: the name of its Node.
inline constexpr std::string_view volume_node = "slipway.internal/node";

// The volumes of a node with data that may be needed: "shop/data", the claim, or the name of a volume without one. Not those
// whose claim is gone and whose data are deleted.
//
//   volumes  PersistentVolumes of any kind
std::vector<std::string> wanted_volumes(const std::vector<Json>& volumes, std::string_view node);

std::string orders_name(std::string_view node);
std::string storage_name(std::string_view node);

Json orders_object(std::string_view node, const VolumeOrders& orders);
Json storage_object(std::string_view node, const NodeStorage& storage);

// errors: invalid: also a name of a volume that is not usable as the name of a folder, and more volumes than allowed
Result<VolumeOrders> parse_orders(const Json& config_map);
Result<NodeStorage> parse_storage(const Json& config_map);

// The part of `available` bytes that volumes may get. On a file system with the kubelet, a tenth of its size stays free, because
// the kubelet then evicts pods.
std::int64_t free_for_volumes(std::int64_t available, std::int64_t size, bool is_shared);

// What the sum of all requests of a node may be: 80 % of a shared file system, 95 % of one for volumes only.
std::int64_t capacity_for_volumes(const NodeStorage& storage);

}  // namespace slipway::kube
