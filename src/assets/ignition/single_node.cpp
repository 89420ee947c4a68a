#include "assets/ignition/single_node.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "base/findings.h"
#include "base/text.h"

namespace slipway::assets {

namespace {

// The user may name several paths, separated by spaces; the installer on the machine gets each as one argument.
std::vector<std::string> words_of(std::string_view disk) {
  std::vector<std::string> words;
  for (const std::string_view word : split(disk, ' ')) {
    if (!word.empty()) words.push_back(fmt::format("'{}'", word));
  }
  return words;
}

Result<> check(const config::InstallConfig& config) {
  Findings findings;
  if (config.control_plane.replicas != 1) {
    findings.error({}, "controlPlane.replicas", "must be 1, got {}", config.control_plane.replicas);
  }
  const std::string disk = config.bootstrap_in_place.value_or("");
  if (disk.find_first_of("'\"`$\\\t\n") != std::string::npos) {
    findings.error({}, "bootstrapInPlace.installationDisk", "'{}' is not the path of a disk", disk);
  } else if (words_of(disk).empty()) {
    findings.error({}, "bootstrapInPlace.installationDisk", "missing").hint("the disk to install to, for example /dev/sda");
  }
  return findings.to_result().context("bootstrap in place");
}

}  // namespace

Result<SingleNodeConfig> make_single_node_config(const config::InstallConfig& config, const Environment& environment,
                                                 const BootstrapConfig& bootstrap) {
  TRY(check(config));
  SingleNodeConfig made{bootstrap.config};
  TemplateValues values = bootstrap_values(config, environment);
  values.emplace("INSTALLATION_DISK", *config.bootstrap_in_place);
  values.emplace("INSTALLATION_DISKS", join(words_of(*config.bootstrap_in_place), " "));
  TRY(put_data_files(made.config, data::bootstrap_variants(), "in-place/", values));
  return made;
}

}  // namespace slipway::assets
