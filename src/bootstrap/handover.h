// Handover: the last steps of the bootstrap. ClusterVersion gets the user's overrides, the machine config server of this machine
// ends, and etcd runs on the masters.
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

// Removes the static pods with names of bootstrap-manifests, after a failure of cluster-bootstrap. cluster-bootstrap removes its
// own pods when it fails, so those that are left are of a killed one. OpenShift's refuses to start while one is left.
Result<> remove_temporary_control_plane(sys::Files& files, const std::string& assets);

}  // namespace slipway::bootstrap
