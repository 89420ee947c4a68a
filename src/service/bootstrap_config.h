// The config of the host that carries the bootstrap of a cluster: bootstrap.ign as slipway generates it, with what an assisted
// installation adds. Pure.
#pragma once

#include "service/records.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::service {

// How the controller in the cluster reaches this service.
struct ControllerAccess {
  std::string url;        // of the service, as hosts reach it
  std::string token;      // of kind controller; empty without authentication
  std::string authority;  // PEM; empty: the system's authorities
  WallTime until{};       // the end of the token
  std::string host{};     // name of the host of the cluster that carries the service; empty: another machine
};

// Adds to the config:
//
//   - the machine table with the registered hosts: no other machine gets a certificate, and each only for its name and for
//     addresses that no other host has
//   - the marker with which the etcd operator lets a cluster start with two members besides the bootstrap's
//   - instead of it, for a single node: the files with which the bootstrap ends with the config of the node, and the node's name
//   - the manifests of the controller. The host fills in the image of the release (assist/controller.h)
//
//   errors  invalid: `base` is not an Ignition config
Result<std::string> bootstrap_ignition(const ClusterRecord& cluster, const std::vector<std::shared_ptr<const HostRecord>>& hosts,
                                       std::string_view base, const ControllerAccess& access);

}  // namespace slipway::service
