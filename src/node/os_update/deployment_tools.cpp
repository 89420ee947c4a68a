#include "base/text.h"
#include "node/os_update/image_store.h"
#include "node/os_update/rpm_ostree_plan.h"
#include "node/os_update/staged_updater.h"

#include <utility>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;

class CommandLineTool : public DeploymentTool {
 public:
  explicit CommandLineTool(const Environment& environment) : environment_(environment) {}

 protected:
  Result<std::string> run(std::vector<std::string> argv) {
    return sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv)});
  }
  Result<> change(std::vector<std::string> argv) {
    TRY(run(std::move(argv)));
    return Ok{};
  }

  const Environment& environment_;
};

class RpmOstree final : public CommandLineTool {
 public:
  using CommandLineTool::CommandLineTool;

  Result<HostDeployments> deployments() override { return parse_rpm_ostree_status(TRY(run({"rpm-ostree", "status", "--json"}))); }
  Result<> store_packages(const Images& images) override {
    const std::vector<std::string> packages = TRY(packages_of(images.wanted_extensions));
    TRY(store_extensions(environment_, images.extensions));
    const std::vector<std::string> missing =
        missing_packages(packages, TRY(environment_.files.list(TRY(packages_folder(images.extensions)))));
    if (missing.empty()) return Ok{};
    return error(Code::invalid, "{}: the image has no package {}", images.extensions, join(missing, ", "));
  }
  Result<> import(const std::string& image) override {
    return change({"rpm-ostree", "rebase", "--experimental", "--download-only", image_in_storage(image)});
  }
  Result<> stage(const MachineConfig& from, const MachineConfig& to, const HostDeployment& booted) override {
    std::vector<std::vector<std::string>> commands = TRY(rpm_ostree_commands(from, to, booted));
    for (std::vector<std::string>& command : commands) TRY(change(std::move(command)));
    return Ok{};
  }
  Result<> discard_pending() override { return change({"rpm-ostree", "cleanup", "--pending"}); }
  Result<> rollback() override { return change({"rpm-ostree", "rollback"}); }
};

class Bootc final : public CommandLineTool {
 public:
  using CommandLineTool::CommandLineTool;

  Result<HostDeployments> deployments() override { return parse_bootc_status(TRY(run({"bootc", "status", "--json"}))); }

  Result<> store_packages(const Images& images) override {
    return error(Code::invalid, "extensions: {}: bootc installs no packages; build an image with them",
                 join(images.wanted_extensions, ", "));
  }

  // Before it is staged, bootc does not store an image without a chance that a restart of the machine boots it.
  Result<> import(const std::string&) override { return Ok{}; }

  Result<> stage(const MachineConfig& from, const MachineConfig& to, const HostDeployment& booted) override {
    const std::vector<std::string> faults = bootc_faults(from, to);
    if (!faults.empty()) return error(Code::invalid, "{}", join(faults, "; "));
    if (!needs_image(to, booted)) return Ok{};
    return change({"bootc", "switch", "--quiet", "--transport=containers-storage", to.os_image_url});
  }
  // `bootc rollback` would queue the deployment before the booted one.
  Result<> discard_pending() override { return change({"ostree", "admin", "undeploy", "0"}); }
  Result<> rollback() override { return change({"bootc", "rollback"}); }
};

}  // namespace

std::vector<std::string> bootc_faults(const MachineConfig& from, const MachineConfig& to) {
  std::vector<std::string> faults;
  if (from.kernel_arguments != to.kernel_arguments) {
    faults.emplace_back(
        "kernelArguments: bootc does not set them; put them into /usr/lib/bootc/kargs.d of the image of osImageURL");
  }
  if (!to.kernel_type.empty() && to.kernel_type != "default") {
    faults.emplace_back("kernelType: bootc does not change it; build an image with that kernel");
  }
  if (!to.extensions.empty()) faults.emplace_back("extensions: bootc installs no packages; build an image with them");
  return faults;
}

std::unique_ptr<DeploymentTool> make_rpm_ostree_tool(const Environment& environment) {
  return std::make_unique<RpmOstree>(environment);
}
std::unique_ptr<DeploymentTool> make_bootc_tool(const Environment& environment) { return std::make_unique<Bootc>(environment); }

}  // namespace slipway::node
