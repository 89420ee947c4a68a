// The last steps of the bootstrap machine: ClusterVersion gets the user's overrides, the machine config server of this machine
// stops, and etcd runs on the masters.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string>

namespace slipway::bootstrap {

// Sets the overrides of the user on ClusterVersion, so that the cluster-version operator manages the installer's objects from
// then on. Retries while the API or the object does not exist.
//
//   patch   a JSON merge patch, {"spec":{"overrides":null}}
//   errors  timeout after an hour; denied, invalid: from the API
Result<> restore_overrides(const sys::Context& context, kube::Api& api, const Json& patch);

// Waits until the etcd operator reports that etcd runs on the masters (EtcdRunningInCluster). The operator removes the member of
// this machine later. errors: timeout after an hour
Result<> wait_for_etcd_in_cluster(const sys::Context& context, kube::Api& api);

// Removes the static pod of the machine config server of this machine, and nothing else. Its address is then free for the server
// of the cluster.
Result<> stop_machine_config_server(sys::Files& files);

// Removes the static pods with names of bootstrap-manifests after a failure of cluster-bootstrap. A cluster-bootstrap that fails
// removes its own pods, so these are of a killed one. The original cluster-bootstrap does not start while one exists.
Result<> remove_temporary_control_plane(sys::Files& files, const std::string& assets);

}  // namespace slipway::bootstrap
