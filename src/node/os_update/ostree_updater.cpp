#include "node/os_update/ostree_updater.h"

#include "base/text.h"
#include "machineconfig/machine_state.h"
#include "machineconfig/types.h"
#include "node/config_disk.h"
#include "node/os_update/deployments.h"
#include "node/os_update/image.h"
#include "node/os_update/status.h"
#include "node/os_update/trial.h"
#include "node/os_update/update_configs.h"

#include <algorithm>
#include <memory>
#include <set>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;

constexpr const char* entries_folder = "/boot/loader/entries";
constexpr const char* boot_counter = "/usr/lib/slipway/boot-counter";

Result<> run(const Environment& environment, std::vector<std::string> argv) {
  TRY(sys::run_checked(environment.runner, environment.context, {.argv = std::move(argv)}));
  return Ok{};
}

Result<std::vector<std::string>> running_arguments(const Environment& environment) {
  const std::string command_line = TRY(environment.files.read("/proc/cmdline"));
  for (const std::string& name : TRY(environment.files.list(entries_folder))) {
    const std::string entry = TRY(environment.files.read(std::string(entries_folder) + "/" + name));
    if (is_entry_of(entry, command_line)) return arguments_of_entry(entry);
  }
  return error(Code::not_found, "no boot entry in {} belongs to the running system, whose command line is: {}", entries_folder,
               trim(command_line));
}

// The deployment of a commit that is not booted and was made last.
const Deployment* find_staged(const std::vector<Deployment>& deployments, const std::string& commit) {
  const Deployment* staged = nullptr;
  for (const Deployment& each : deployments) {
    if (each.booted || each.commit != commit) continue;
    const bool is_later = !staged || each.serial.size() > staged->serial.size() ||
                          (each.serial.size() == staged->serial.size() && each.serial > staged->serial);
    if (is_later) staged = &each;
  }
  return staged;
}

std::string index_of(const std::vector<Deployment>& deployments, const Deployment* deployment) {
  return fmt::format("{}", deployment - deployments.data());
}

// The digest of an image, or of the one that a deployment was made from.
Result<std::string> digest_of(const Environment& environment, const std::string& os_image, const Deployment& booted) {
  if (os_image.empty()) return image_digest(environment, booted.commit);
  return TRY(image_by_digest(os_image_field, os_image)).digest->text();
}

struct Source {
  std::string commit, digest;  // of the image
};

Result<Source> source_for(const Environment& environment, const MachineConfig& config, const Deployment& booted) {
  const Images images = TRY(images_of(config));
  const Extensions extensions = TRY(extensions_of(images));
  std::string digest = TRY(digest_of(environment, images.os, booted));
  if (images.os.empty() && extensions == TRY(extensions_of(environment, booted.commit))) {
    return Source{booted.commit, std::move(digest)};
  }
  const std::vector<KnownImage> known = TRY(known_images(environment));
  if (const KnownImage* found = find_image(known, digest, extensions)) return Source{found->commit, std::move(digest)};
  const std::string image = images.os.empty() ? digest : images.os;
  if (extensions.names.empty()) return error(Code::not_found, "OS image {} is not on this machine", image);
  return error(Code::not_found, "OS image {} with {} of {} is not on this machine", image, join(extensions.names, ", "),
               images.extensions);
}

Result<std::vector<Deployment>> require_booted(const Environment& environment) {
  std::vector<Deployment> deployments = TRY(read_deployments(environment));
  if (!find_booted(deployments)) return error(Code::not_found, "ostree admin status lists no booted deployment");
  return deployments;
}

}  // namespace

OstreeUpdater::OstreeUpdater(const Environment& environment, OpenSource open_source)
    : environment_(environment), open_source_(std::move(open_source)) {}

Result<> OstreeUpdater::fetch(const Images& images) {
  std::optional<release::Reference> os, extensions;
  if (!images.os.empty()) os = TRY(image_by_digest(os_image_field, images.os));
  if (!images.extensions.empty()) extensions = TRY(image_by_digest(extensions_image_field, images.extensions));
  const std::unique_ptr<release::ImageSource> source = TRY(open_source_());
  if (os) TRY(import_image(environment_, *source, *os));
  if (!extensions) return Ok{};
  const std::vector<Deployment> deployments = TRY(require_booted(environment_));
  const std::string base = TRY(digest_of(environment_, images.os, *find_booted(deployments)));
  return add_extensions(environment_, *source, base, *extensions, images.wanted_extensions);
}

// The deployment boots only after the last step, and only then with a record and a counter. A power failure before leaves the
// running system as it is.
Result<> OstreeUpdater::stage(Wanted wanted) {
  const UpdateConfigs configs = TRY(read_update_configs(environment_, wanted));
  std::vector<Deployment> deployments = TRY(require_booted(environment_));
  const Deployment booted = *find_booted(deployments);
  const auto [commit, image] = TRY(source_for(environment_, configs.wanted, booted));
  std::vector<std::string> deploy = {"ostree", "admin", "deploy", "--os=" + booted.os, "--not-as-default", "--karg-none"};
  for (const std::string& argument : change_arguments(TRY(running_arguments(environment_)), configs.running.kernel_arguments,
                                                      configs.wanted.kernel_arguments)) {
    deploy.push_back("--karg-append=" + argument);
  }
  deploy.push_back(commit);
  TRY(run(environment_, std::move(deploy)));
  deployments = TRY(read_deployments(environment_));
  const Deployment* staged = find_staged(deployments, commit);
  if (!staged) return error(Code::internal, "ostree admin status does not list the new deployment of {}", commit);
  if (wanted == Wanted::first_config) {
    // No record: there is no Node yet, so starting completely is all that is asked of the deployment.
    TRY(environment_.files.remove(staged->folder() + first_config_file));
  } else {
    TRY(ConfigDisk(environment_, staged->folder()).change(configs.running, {}, configs.wanted, {.reboot = true}));
    const bool has_new_image = image != TRY(image_digest(environment_, booted.commit));
    TRY(write_trial_record(environment_.files, {.config = machineconfig::state_of(configs.wanted).text(),
                                                .image = has_new_image ? configs.wanted.os_image_url : "",
                                                .deployment = staged->id()}));
  }
  TRY(run(environment_, {boot_counter, "start"}));
  return run(environment_, {"ostree", "admin", "set-default", index_of(deployments, staged)});
}

Result<Trial> OstreeUpdater::trial() {
  const std::optional<TrialRecord> record = TRY(read_trial_record(environment_.files));
  if (!record) return Trial{};
  const std::vector<Deployment> deployments = TRY(require_booted(environment_));
  return judge(record, find_booted(deployments)->id(), TRY(attempts_left(environment_)));
}

Result<> OstreeUpdater::accept() {
  TRY(run(environment_, {boot_counter, "clear"}));
  const std::vector<Deployment> deployments = TRY(require_booted(environment_));
  const std::vector<KnownImage> known = TRY(known_images(environment_));
  // An image below the extensions of a deployment stays, for other extensions and for none.
  std::set<std::string> bases;
  const auto is_deployed = [&](const KnownImage& image) {
    return std::ranges::find(deployments, image.commit, &Deployment::commit) != deployments.end();
  };
  for (const KnownImage& image : known) {
    if (is_deployed(image)) bases.insert(image.digest);
  }
  bool is_any_removed = false;
  for (const KnownImage& image : known) {
    if (is_deployed(image) || (image.extensions.names.empty() && bases.contains(image.digest))) continue;
    TRY(run(environment_, {"ostree", "--repo=/ostree/repo", "refs", "--delete", image.ref}));
    is_any_removed = true;
  }
  if (is_any_removed) TRY(run(environment_, {"ostree", "admin", "cleanup"}));
  return remove_trial_record(environment_.files);
}

Result<> OstreeUpdater::boot_running_deployment() {
  const std::vector<Deployment> deployments = TRY(require_booted(environment_));
  const Deployment* booted = find_booted(deployments);
  if (booted != &deployments.front()) TRY(run(environment_, {"ostree", "admin", "set-default", index_of(deployments, booted)}));
  return run(environment_, {boot_counter, "clear"});
}

Result<> OstreeUpdater::forget() {
  TRY(boot_running_deployment());
  return remove_trial_record(environment_.files);
}

Result<bool> OstreeUpdater::give_up() {
  std::optional<TrialRecord> record = TRY(read_trial_record(environment_.files));
  const std::vector<Deployment> deployments = TRY(require_booted(environment_));
  const Deployment* booted = find_booted(deployments);
  if (!record || booted->id() != record->deployment) return false;
  const auto other = std::ranges::find(deployments, false, &Deployment::booted);
  if (other == deployments.end()) return error(Code::not_found, "there is no deployment to go back to");
  record->reason = TRY(describe_failure(environment_));
  TRY(write_trial_record(environment_.files, *record));
  TRY(run(environment_, {"ostree", "admin", "set-default", index_of(deployments, &*other)}));
  TRY(run(environment_, {boot_counter, "clear"}));
  return true;
}

}  // namespace slipway::node
