// Handover: the last steps, when the masters have the cluster: who manages what, and whether etcd has moved (operators 1.2, 17 to
// 19).
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string>

namespace slipway::bootstrap {

// Gives the ClusterVersion the overrides that the user wanted, so that the cluster-version operator manages the installer's
// objects from here on. Tries while the API or the object is not there.
//
//   patch   a JSON merge patch, {"spec":{"overrides":null}}
//   errors  timeout after an hour; denied, invalid: what the API says
Result<> restore_overrides(const sys::Context& context, kube::Api& api, const Json& patch);

// Waits until the etcd operator says that etcd runs on the masters (EtcdRunningInCluster). It removes the member of this machine
// by itself later on. errors: timeout after an hour
Result<> wait_for_etcd_in_cluster(const sys::Context& context, kube::Api& api);

// Makes room for the machine config server of the cluster: removes the static pod of the one here, and cleans up nothing else.
Result<> stop_machine_config_server(sys::Files& files);

// Removes the static pods with names of bootstrap-manifests. For after a failure of cluster-bootstrap: it removed what it made
// itself (operators 5.2), so these are of one that was killed, and upstream's refuses to start while there is one.
Result<> remove_temporary_control_plane(sys::Files& files, const std::string& assets);

}  // namespace slipway::bootstrap
