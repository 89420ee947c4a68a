// What rpm-ostree has to do for a change from one MachineConfig to another. Pure.
#pragma once

#include "machineconfig/types.h"
#include "node/os_update/host_deployments.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// The packages of extensions, in the order of the extensions. The names of extensions are those of RHEL CoreOS, and
// machineconfig::realtime_extension for the real-time kernel.
//
//   errors  invalid, listing the extensions that are unknown, and all that are known
Result<std::vector<std::string>> packages_of(const std::vector<std::string>& extensions);

// The options for the kernel arguments: "--delete-if-present=a", "--append=b". Arguments that both configs have stay where they
// are, unless only their order differs.
std::vector<std::string> argument_options(const std::vector<std::string>& from, const std::vector<std::string>& to);

// The command lines, in order. Packages and arguments that neither config has stay, as those that a person has added. Packages
// and the kernel are compared with the booted deployment. None if the deployment has everything.
//
//   errors  those of packages_of(); invalid: the type of the kernel
Result<std::vector<std::vector<std::string>>> rpm_ostree_commands(const machineconfig::MachineConfig& from,
                                                                  const machineconfig::MachineConfig& to,
                                                                  const HostDeployment& booted);

// The image of a reference in the storage of podman, where neither rpm-ostree nor bootc needs a registry.
std::string image_in_storage(std::string_view image);

// The repositories of a file of /etc/yum.repos.d that are enabled.
std::vector<std::string> enabled_repositories(std::string_view file);

// The packages without a file among the names of files of a repository ("usbguard-1.0.0-15.el9.x86_64.rpm").
std::vector<std::string> missing_packages(const std::vector<std::string>& packages, const std::vector<std::string>& files);

}  // namespace slipway::node
