#include "assets/ignition/single_node.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "base/findings.h"

namespace slipway::assets {

namespace {

Result<> check(const config::InstallConfig& config) {
  Findings findings;
  if (config.control_plane.replicas != 1) {
    findings.error({}, "controlPlane.replicas", "must be 1, got {}", config.control_plane.replicas);
  }
  for (std::size_t i = 0; i < config.compute.size(); ++i) {
    const int replicas = config.compute[i].replicas;
    if (replicas != 0) findings.error({}, fmt::format("compute[{}].replicas", i), "must be 0, got {}", replicas);
  }
  const std::string disk = config.bootstrap_in_place.value_or("");
  if (disk.find_first_of("'\\ \t\n") != std::string::npos) {
    findings.error({}, "bootstrapInPlace.installationDisk", "'{}' is no path of a disk", disk);
  } else if (disk.empty()) {
    findings.error({}, "bootstrapInPlace.installationDisk", "is missing").hint("name the disk to install to, as /dev/sda");
  }
  return findings.to_result().context("a single node that bootstraps itself");
}

}  // namespace

Result<SingleNodeConfig> make_single_node_config(const config::InstallConfig& config, const Environment& environment,
                                                 const BootstrapConfig& bootstrap) {
  TRY(check(config));
  SingleNodeConfig made{bootstrap.config};
  TemplateValues values = bootstrap_values(config, environment);
  values.emplace("INSTALLATION_DISK", *config.bootstrap_in_place);
  TRY(put_data_files(made.config, data::bootstrap_variants(), "in-place/", values));
  return made;
}

}  // namespace slipway::assets
