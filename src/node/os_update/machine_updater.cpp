#include "node/os_update/machine_updater.h"

#include "base/text.h"
#include "machineconfig/update_plan.h"
#include "node/os_update/image.h"
#include "node/os_update/image_store.h"
#include "node/os_update/ostree_updater.h"
#include "node/os_update/rpm_ostree_plan.h"
#include "node/os_update/staged_updater.h"
#include "node/registry_access.h"
#include "release/registry_client.h"

#include <algorithm>
#include <array>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;

struct Evidence {
  OsProgram program;
  const char* path;  // only machines of this kind have it
  std::string_view name;
};

constexpr std::array evidences = {
    Evidence{OsProgram::ostree, "/usr/lib/slipway/boot-counter", "ostree"},
    Evidence{OsProgram::rpm_ostree, "/usr/bin/rpm-ostree", "rpm-ostree"},
    Evidence{OsProgram::bootc, "/usr/bin/bootc", "bootc"},
};

Result<std::unique_ptr<release::ImageSource>> open_registries(const Environment& environment) {
  release::RegistryOptions options = TRY(registry_access(environment.context, environment.files));
  return std::unique_ptr<release::ImageSource>(std::make_unique<release::RegistryClient>(environment.http, std::move(options)));
}

std::unique_ptr<DeploymentTool> make_tool(const Environment& environment, OsProgram program) {
  return program == OsProgram::rpm_ostree ? make_rpm_ostree_tool(environment) : make_bootc_tool(environment);
}

// Another repository would be read after the pods have left, when the machine needs no network, and its packages installed.
Result<std::vector<std::string>> enabled_elsewhere(sys::Files& files) {
  std::vector<std::string> faults, names;
  if (TRY(files.info(repositories_folder))) names = TRY(files.list(repositories_folder));
  for (const std::string& name : names) {
    if (!name.ends_with(".repo") || name == std::string(extensions_repository) + ".repo") continue;
    const std::string path = fmt::format("{}/{}", repositories_folder, name);
    const std::vector<std::string> enabled = enabled_repositories(TRY(files.read(path)));
    if (enabled.empty()) continue;
    faults.push_back(fmt::format(
        "{}: {} is enabled, and rpm-ostree would install packages from there; set enabled=0 with a file of a MachineConfig", path,
        join(enabled, ", ")));
  }
  return faults;
}

bool has_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
}

}  // namespace

std::string_view to_text(OsProgram program) {
  for (const Evidence& each : evidences) {
    if (each.program == program) return each.name;
  }
  return "";
}

Result<OsProgram> find_os_program(sys::Files& files) {
  for (const Evidence& each : evidences) {
    if (TRY(files.info(each.path))) return each.program;
  }
  return error(Code::not_found,
               "nothing changes the operating system of this machine: it is not slipway's machine OS, and has "
               "neither rpm-ostree nor bootc");
}

std::unique_ptr<MachineUpdater> make_machine_updater(const Environment& environment, OsProgram program) {
  if (program != OsProgram::ostree) return std::make_unique<StagedUpdater>(environment, make_tool(environment, program));
  return std::make_unique<OstreeUpdater>(environment, [&environment] { return open_registries(environment); });
}

Result<> check_machine(const Environment& environment, const MachineConfig& from, const MachineConfig& to) {
  const OsProgram program = TRY(find_os_program(environment.files));
  std::vector<std::string> faults;
  if (program == OsProgram::bootc) faults = bootc_faults(from, to);
  if (program == OsProgram::rpm_ostree && !machineconfig::wanted_extensions(to).empty()) {
    faults = TRY(enabled_elsewhere(environment.files));
  }
  if (faults.empty()) return Ok{};
  return error(Code::invalid, "{}", join(faults, "; "));
}

Result<bool> runs_images(const Environment& environment, const Images& images) {
  const OsProgram program = TRY(find_os_program(environment.files));
  std::string digest;
  if (!images.os.empty()) digest = TRY(image_by_digest(os_image_field, images.os)).digest->text();
  if (program == OsProgram::ostree) {
    const std::vector<Deployment> deployments = TRY(read_deployments(environment));
    const Deployment* booted = find_booted(deployments);
    if (!booted) return error(Code::not_found, "no booted deployment in the output of ostree admin status");
    if (!digest.empty() && TRY(image_digest(environment, booted->commit)) != digest) return false;
    return TRY(extensions_of(environment, booted->commit)) == TRY(extensions_of(images));
  }
  const HostDeployments deployments = TRY(make_tool(environment, program)->deployments());
  const HostDeployment* booted = find_booted(deployments);
  if (!booted) return error(Code::not_found, "{}: no deployment is booted", to_text(program));
  if (!digest.empty() && !is_of_image(*booted, digest)) return false;
  return has_all(booted->packages, TRY(packages_of(images.wanted_extensions)));
}

}  // namespace slipway::node
