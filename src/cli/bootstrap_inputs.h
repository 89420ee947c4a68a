// What the bootstrap machine has to know and neither the install-config nor the release says: where slipway-node comes from when
// the release is not slipway's, and what its kubelet shall be known by.
#pragma once

#include "assets/assets.h"
#include "release/release.h"

namespace slipway::cli {

// Environment variables that people set (installer 1.8).
struct BootstrapVariables {
  std::string slipway_image;      // SLIPWAY_IMAGE
  std::string bootstrap_node_ip;  // OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP
};
BootstrapVariables bootstrap_variables();

// Fills in the fields of `made` that are about this. Pure but for warnings.
//
//   version  of this program: what slipway's own release is tagged with in a mirror
//   errors   invalid: SLIPWAY_IMAGE is no image reference. A release without slipway-node, and nowhere to take it from, is no
//   error
//            yet: manifests do not need it
Result<> add_bootstrap_inputs(assets::Environment& made, const sys::Context& context, const config::InstallConfig& config,
                              const release::Release& release, const BootstrapVariables& variables, std::string_view version);

}  // namespace slipway::cli
