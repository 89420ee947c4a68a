// Inputs of the bootstrap machine that come neither from the install-config nor from the release: the image of slipway-node for a
// foreign release, the node IP of its kubelet, the cluster profile that selects manifests, and whether the release has a login.
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

// Sets these fields of `inputs`. Pure, except for warnings.
//
//   version  of this program; the tag of slipway's own release in a mirror
//   errors   invalid: SLIPWAY_IMAGE is not an image reference, the cluster profile is not a name. A release without slipway-node
//            and without SLIPWAY_IMAGE is no error: manifests do not need it
Result<> add_bootstrap_inputs(assets::Environment& inputs, const sys::Context& context, const config::InstallConfig& config,
                              const release::Release& release, const BootstrapVariables& variables, std::string_view version);

}  // namespace slipway::cli
