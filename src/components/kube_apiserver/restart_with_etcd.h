// The rollout of API servers follows that of etcd. An API server uses only the etcd member of its master, and ends before it
// (data/components/etcd/static-pod.yaml). So when both get another revision, both change together, master by master. One after
// the other, each API server would restart twice. Pure.
#pragma once

#include "components/controller/reconcile.h"
#include "components/static_pod/rollout.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::kube_apiserver {

// Why the API server of a master must not restart now: the etcd operator has not yet made the revision of this release, or has
// not begun on this master, or changes another master. It is no reason if the API server is not Ready, if etcd's revision has
// failed on a master, if the etcd operator is not managed, or if the newest revision of API servers is ten minutes old.
//
//   version  release of this operator
std::optional<Objection> wait_for_etcd(const Snapshot& seen, const std::string& node, std::string_view version, WallTime now);

}  // namespace slipway::components::kube_apiserver
