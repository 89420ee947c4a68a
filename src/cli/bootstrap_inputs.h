// What the bootstrap machine has to know and neither the install-config nor the release says: where slipway-node comes from when
// the release is not slipway's, what its kubelet shall be known by, which of the release's manifests are taken, and whether the
// release has a login.
#pragma once

#include "assets/assets.h"
#include "release/release.h"

namespace slipway::cli {

// Environment variables that the user may set.
struct BootstrapVariables {
  std::string slipway_image;      // SLIPWAY_IMAGE
  std::string bootstrap_node_ip;  // OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP
  std::string cluster_profile{};  // OPENSHIFT_INSTALL_EXPERIMENTAL_CLUSTER_PROFILE
  std::string os_image{};         // OPENSHIFT_INSTALL_OS_IMAGE_OVERRIDE
};
BootstrapVariables bootstrap_variables();

// Fills in the fields of `made` that are about this. Pure but for warnings.
//
//   version  of this program: what slipway's own release is tagged with in a mirror
//   errors   invalid: SLIPWAY_IMAGE is no image reference, the cluster profile no name. A release without slipway-node, and
//            nowhere to take it from, is no error yet: manifests do not need it
Result<> add_bootstrap_inputs(assets::Environment& made, const sys::Context& context, const config::InstallConfig& config,
                              const release::Release& release, const BootstrapVariables& variables, std::string_view version);

}  // namespace slipway::cli
