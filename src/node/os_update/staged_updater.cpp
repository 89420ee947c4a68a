#include "node/os_update/staged_updater.h"

#include "base/text.h"
#include "data/data.h"
#include "machineconfig/machine_state.h"
#include "machineconfig/update_plan.h"
#include "node/config_disk.h"
#include "node/os_update/image.h"
#include "node/os_update/image_store.h"
#include "node/os_update/trial.h"
#include "node/os_update/update_configs.h"
#include "release/reference.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;

constexpr const char* boot_id_file = "/proc/sys/kernel/random/boot_id";
constexpr const char* finalizer = "ostree-finalize-staged.service";
constexpr std::string_view units_folder = "/etc/systemd/system/";

Result<std::string> boot_id(sys::Files& files) { return std::string(trim(TRY(files.read(boot_id_file)))); }

bool is_installed(const HostDeployments& deployments, const std::string& id) {
  return std::ranges::any_of(deployments, [&](const HostDeployment& each) { return each.deployment.id() == id; });
}

// The timer that ends a trial. slipway's machine OS has it in /usr.
Result<> write_units(sys::Files& files, const std::string& root) {
  for (const data::File& unit : data::os_update()) {
    TRY(files.write(root + std::string(units_folder) + std::string(unit.path), unit.content, 0644));
  }
  return Ok{};
}

}  // namespace

Result<> StagedUpdater::run(std::vector<std::string> argv) {
  TRY(sys::run_checked(environment_.runner, environment_.context, {.argv = std::move(argv)}));
  return Ok{};
}

Result<HostDeployments> StagedUpdater::require_booted() {
  HostDeployments deployments = TRY(tool_->deployments());
  if (!find_booted(deployments)) return error(Code::not_found, "no deployment of this machine is booted");
  return deployments;
}

// The packages come first: the deployment may have packages that the new image takes from there.
Result<> StagedUpdater::fetch(const Images& images) {
  if (!images.extensions.empty()) TRY(tool_->store_packages(images));
  if (images.os.empty()) return Ok{};
  const release::Reference image = TRY(image_by_digest(os_image_field, images.os));
  const HostDeployments deployments = TRY(require_booted());
  if (is_of_image(*find_booted(deployments), image.digest->text())) return Ok{};
  TRY(store_image(environment_, images.os));
  // An interrupted stage() has imported it, and rpm-ostree does not rebase to the image of the deployment that boots next.
  if (is_of_image(deployments.front(), image.digest->text())) return Ok{};
  return tool_->import(images.os);
}

Result<> StagedUpdater::check(const MachineConfig& from, const MachineConfig& to) {
  return check_machine(environment_, from, to);
}

// The record is written before the deployment can boot, and the files of the config afterwards. After a power failure between
// these, the new system runs with the files of the running config, is on trial, and gets the files by the same update.
Result<> StagedUpdater::stage(Wanted wanted) {
  const UpdateConfigs configs = TRY(read_update_configs(environment_, wanted));
  HostDeployments deployments = TRY(require_booted());
  const HostDeployment booted = *find_booted(deployments);
  if (!deployments.front().deployment.booted) TRY(tool_->discard_pending());
  TRY(tool_->stage(configs.running, configs.wanted, booted));
  deployments = TRY(require_booted());
  if (deployments.front().deployment.booted) {
    TRY(run({"ostree", "admin", "deploy", "--stage", "--os=" + booted.deployment.os,
             "--origin-file=" + booted.deployment.folder() + ".origin", booted.deployment.commit}));
    deployments = TRY(require_booted());
  }
  const HostDeployment staged = deployments.front();
  if (staged.deployment.booted) return error(Code::internal, "no new deployment of {} was staged", configs.wanted.name);
  if (wanted == Wanted::next_config) {
    const std::string started = TRY(boot_id(environment_.files));
    const bool has_new_image = staged.image_digest != booted.image_digest;
    TRY(write_trial_record(environment_.files, {.config = machineconfig::state_of(configs.wanted).text(),
                                                .image = has_new_image ? configs.wanted.os_image_url : "",
                                                .deployment = staged.deployment.id(),
                                                .boot_id = started}));
  }
  // The service writes the deployment when it stops. It may not have been started yet.
  TRY(run({"systemctl", "start", finalizer}));
  TRY(run({"systemctl", "stop", finalizer}));
  deployments = TRY(require_booted());
  if (deployments.front().deployment.booted || deployments.front().is_staged) {
    return error(Code::unavailable, "the new deployment was not written to the disk: see journalctl --unit={}", finalizer);
  }
  const std::string root = deployments.front().deployment.folder();
  if (wanted == Wanted::first_config) return environment_.files.remove(root + first_config_file);
  TRY(write_units(environment_.files, root));
  return ConfigDisk(environment_, root).change(configs.running, {}, configs.wanted, {.reboot = true});
}

Result<Trial> StagedUpdater::trial() {
  const std::optional<TrialRecord> record = TRY(read_trial_record(environment_.files));
  if (!record) return Trial{};
  const HostDeployments deployments = TRY(require_booted());
  return judge_without_counter(record, find_booted(deployments)->deployment.id(), is_installed(deployments, record->deployment),
                               TRY(boot_id(environment_.files)));
}

Result<> StagedUpdater::accept() {
  const HostDeployments deployments = TRY(require_booted());
  const HostDeployment& next = deployments.front();
  if (!next.deployment.booted && !next.is_staged) TRY(tool_->rollback());  // give_up() was interrupted
  TRY(remove_stored_images(environment_, ""));
  const std::optional<MachineConfig> current = TRY(ConfigDisk(environment_).current());
  const bool has_packages = current && !machineconfig::wanted_extensions(*current).empty();
  TRY(remove_stored_extensions(environment_, has_packages ? current->extensions_image : ""));
  return remove_trial_record(environment_.files);
}

Result<> StagedUpdater::forget() {
  const HostDeployments deployments = TRY(require_booted());
  if (!deployments.front().deployment.booted) TRY(tool_->discard_pending());
  return remove_trial_record(environment_.files);
}

Result<bool> StagedUpdater::give_up() {
  std::optional<TrialRecord> record = TRY(read_trial_record(environment_.files));
  const HostDeployments deployments = TRY(require_booted());
  if (!record || find_booted(deployments)->deployment.id() != record->deployment) return false;
  if (record->reason.empty()) {
    record->reason = TRY(describe_failure(environment_));
    TRY(write_trial_record(environment_.files, *record));
  }
  const HostDeployment& next = deployments.front();
  if (!next.deployment.booted && !next.is_staged) return true;  // an interrupted call has changed the order
  if (next.is_staged) TRY(tool_->discard_pending());
  const bool has_other =
      std::ranges::any_of(deployments, [](const HostDeployment& each) { return !each.deployment.booted && !each.is_staged; });
  if (!has_other) return error(Code::not_found, "there is no deployment to go back to");
  TRY(tool_->rollback());
  return true;
}

}  // namespace slipway::node
