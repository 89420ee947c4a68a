// Failure domains of platform vsphere, and the vCenter inventory paths of machines.
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
  std::string server;  // the vCenter
  std::string datacenter;
  std::string compute_cluster;
  std::string datastore;
  std::string folder;         // empty: a folder named after the infra ID
  std::string resource_pool;  // default: the root resource pool of the compute cluster
  std::string template_path;  // empty: the installation uploads a template
  std::vector<std::string> networks;
  std::vector<std::string> tag_ids;
};

std::vector<FailureDomain> failure_domains(const config::InstallConfig& config);

// The template that virtual machines are cloned from.
std::string template_name(const FailureDomain& domain, const ClusterId& id);

// The folder of a domain's virtual machines.
std::string machine_folder(const FailureDomain& domain, const ClusterId& id);

}  // namespace slipway::assets
