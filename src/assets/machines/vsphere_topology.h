// Where machines of platform vsphere go: the failure domains of the install-config, as everything that names inventory reads
// them.
#pragma once

#include "assets/assets.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::assets {

// Paths are those of vCenter's inventory, "/DC/host/CLUSTER".
struct FailureDomain {
  std::string name;
  std::string region;
  std::string zone;
  std::string server;  // of its vCenter
  std::string datacenter;
  std::string compute_cluster;
  std::string datastore;
  std::string folder;         // empty: the cluster's own
  std::string resource_pool;  // the compute cluster's own when none is given
  std::string template_path;  // empty: the one that the installation uploads
  std::vector<std::string> networks;
  std::vector<std::string> tag_ids;
};

std::vector<FailureDomain> failure_domains(const config::InstallConfig& config);

// The virtual machine that others are cloned from.
std::string template_name(const FailureDomain& domain, const ClusterId& id);

// The folder of a domain's virtual machines.
std::string machine_folder(const FailureDomain& domain, const ClusterId& id);

}  // namespace slipway::assets
