// StagedUpdater: the MachineUpdater of machines with rpm-ostree or bootc. Both stage a deployment, which OSTree writes to the
// disk at the next shutdown; here it is written at once, so that it can get the files of its config, and that a failure shows.
#pragma once

#include "machineconfig/types.h"
#include "node/os_update/host_deployments.h"
#include "node/os_update/machine_updater.h"

#include <string>
#include <vector>

namespace slipway::node {

// The commands of one program. Threads: one.
class DeploymentTool {
 public:
  virtual ~DeploymentTool() = default;

  virtual Result<HostDeployments> deployments() = 0;

  // Stores the packages of extensions, so that stage() needs no network.
  //
  //   errors  invalid: an extension or a package that the image does not have; the program installs no packages
  virtual Result<> store_packages(const Images& images) = 0;

  // Imports an image of podman's storage, so that stage() takes less time, and finds what would make it fail.
  virtual Result<> import(const std::string& image) = 0;

  // Stages a deployment with image, packages and arguments of `to`, based on the booted one. Stages nothing if the booted one has
  // all of them.
  virtual Result<> stage(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to,
                         const HostDeployment& booted) = 0;

  // Removes the deployments that would boot before the booted one.
  virtual Result<> discard_pending() = 0;

  // If the booted deployment boots next, the one before it does afterwards; otherwise the booted one.
  virtual Result<> rollback() = 0;
};

class StagedUpdater final : public MachineUpdater {
 public:
  StagedUpdater(const Environment& environment, std::unique_ptr<DeploymentTool> tool)
      : environment_(environment), tool_(std::move(tool)) {}

  Result<> fetch(const Images& images) override;
  Result<> check(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to) override;
  Result<> stage(Wanted wanted) override;
  Result<Trial> trial() override;
  Result<> accept() override;
  Result<> forget() override;
  Result<bool> give_up() override;

 private:
  Result<HostDeployments> require_booted();
  Result<> run(std::vector<std::string> argv);

  const Environment& environment_;
  std::unique_ptr<DeploymentTool> tool_;
};

// What bootc cannot change, with what to do instead. Pure.
std::vector<std::string> bootc_faults(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to);

std::unique_ptr<DeploymentTool> make_rpm_ostree_tool(const Environment& environment);
std::unique_ptr<DeploymentTool> make_bootc_tool(const Environment& environment);

}  // namespace slipway::node
