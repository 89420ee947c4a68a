// What a machine gets that asks for its config: the rendered MachineConfig and what only the server knows (machine-config A.6,
// E.4), in the version of Ignition that it asks for.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "ignition/types.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The version of Ignition's spec to answer an Accept header with. The entry for application/vnd.coreos.ignition+json with the
// highest q that has a version decides; a newer 3.x than we know gets the newest that we know.
//
// Without such an entry it is 3.2.0: what every machine reads that was built since 2020. Upstream answers those, and those that
// ask for 2.x, in 2.2.0; machines that read nothing else cannot run anything that we install.
//
//   errors  invalid: a version that we do not write, 2.x among them
Result<ignition::Version> accepted_version(std::string_view accept_header);

// Adds to the rendered config: the CA of kubelets' clients, node-annotations.json, the credential to join with, the MachineConfig
// for people and, last, the MachineConfig without its Ignition part, from which the first boot learns image and kernel. Files
// with secrets are 0600. Pure.
//
//   kubeconfig  the credential for /etc/kubernetes/kubeconfig
//   errors      invalid, naming what the version cannot express
Result<ignition::Config> served_config(const MachineConfig& rendered, const ControllerConfig& controller,
                                       const Secret& kubeconfig, ignition::Version version);

}  // namespace slipway::machineconfig
