// The local volumes of a machine: creates and removes the folders that the storage operator orders (kube/node_volumes.h), and
// reports them and the space of their file system. Runs in the machine-config-daemon.
#pragma once

#include "kube/client.h"
#include "kube/node_volumes.h"
#include "node/program.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slipway::node {

// A removed volume gets this prefix at once, so that nothing can use it any more, and a removal that was interrupted continues.
inline constexpr std::string_view removing_prefix = ".removing-";

// What the machine has.
struct VolumesOnDisk {
  std::set<std::string> names{};  // entries of the folder, with those that are being removed
  std::int64_t size = 0;          // of the file system
  std::int64_t available = 0;
  bool is_shared = false;  // with the kubelet
};

struct VolumeSteps {
  std::vector<std::string> make{};
  std::vector<std::string> discard{};  // to rename to removing_prefix + name
  kube::NodeStorage report{};          // after these steps
};

// Pure. Volumes that no order names stay, whatever they are: an order that was lost must not cost data.
//
//   made      volumes that an earlier step of this process has created completely
//   failures  of removals, by the name of the volume
VolumeSteps plan_volumes(const kube::VolumeOrders& orders, const VolumesOnDisk& disk, const std::set<std::string>& made,
                         const std::map<std::string, std::string>& failures);

// Follows the orders for this node and carries them out until a stop. All state is on the disk and in the orders: after a kill at
// any point, another call continues. Looks at the disk at each change of the orders and every five minutes. Failures are logged
// and retried, because the daemon has other work that must go on.
//
//   folder  kube::volumes_folder; created with mode 0700: only the kubelet's mounts lead to a volume
void keep_volumes(const Environment& environment, kube::Api& api, const std::string& node_name, const std::string& folder);

}  // namespace slipway::node
