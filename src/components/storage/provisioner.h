// Provisioner: gives PersistentVolumeClaims local volumes, and takes volumes back whose claims are gone.
//
//   claim with a selected node ─► order `make` for the node ─► `ready` ─► PersistentVolume, order `keep`
//   released PersistentVolume  ─► order `remove`            ─► `removed` ─► no PersistentVolume, no order
//
// The orders and reports are objects (kube/node_volumes.h), so each step can be repeated, and another process can do the next
// one. The claim of a node that has no room, or does not answer, goes back to the scheduler. The scheduler knows the room of all
// nodes from CSIStorageCapacities.
#pragma once

#include "components/controller/reconcile.h"
#include "kube/client.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::components::storage {

// Threads: all calls on the thread of reconcile().
class Provisioner {
 public:
  Provisioner(kube::Api& api, View& view) : api_(api), view_(view) {}

  static std::vector<Watched> watched();

  // Remembers since when nodes are missing or do not answer; everything else is in the snapshot.
  Result<Plan> plan(const Snapshot& seen, WallTime now);

 private:
  class Round;

  // Since when something is so; now, if it was not so in the last plan.
  static WallTime since(std::map<std::string, WallTime>& times, const std::string& key, WallTime now);
  Task give_back(const Json& claim);
  Task release(const Json& volume);

  kube::Api& api_;
  View& view_;
  std::map<std::string, WallTime> missing_since_;  // Nodes
  std::map<std::string, WallTime> asked_since_;    // "NODE VOLUME"
};

// Runs until a stop. errors: those of reconcile()
Result<> keep(const sys::Context& context, kube::Api& api);

}  // namespace slipway::components::storage
