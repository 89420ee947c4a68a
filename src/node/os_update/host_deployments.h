// The deployments of a machine as its own program describes them: rpm-ostree or bootc. Pure.
#pragma once

#include "base/result.h"
#include "machineconfig/types.h"
#include "node/os_update/deployments.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct HostDeployment {
  Deployment deployment;
  std::string image{};         // reference that it was made from, with the transport; empty: not made from an image
  std::string image_digest{};  // "sha256:..."; empty: not made from an image
  bool is_staged = false;      // written to the disk only when the machine stops, or by ostree-finalize-staged.service

  // Of rpm-ostree.
  std::vector<std::string> packages{};       // requested on top of the image, by name
  std::vector<std::string> base_removals{};  // packages of the image that it does not have

  bool operator==(const HostDeployment&) const = default;
};

// In the order in which the boot loader has them: the first one boots next.
using HostDeployments = std::vector<HostDeployment>;

// The output of `rpm-ostree status --json`. errors: invalid
Result<HostDeployments> parse_rpm_ostree_status(std::string_view text);

// The output of `bootc status --json`.
//
//   errors  invalid; also if the machine stores its deployments in composefs instead of OSTree, which is not supported
Result<HostDeployments> parse_bootc_status(std::string_view text);

// The booted one; nullptr when none is marked. Valid as long as the list.
const HostDeployment* find_booted(const HostDeployments& deployments);

// Whether a deployment was made from the image with this digest. The digest of an image for several architectures is only in the
// reference.
bool is_of_image(const HostDeployment& deployment, std::string_view digest);

// Whether the config wants another image than that of the deployment.
bool needs_image(const machineconfig::MachineConfig& config, const HostDeployment& deployment);

}  // namespace slipway::node
