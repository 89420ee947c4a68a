#include "assets/ignition/single_node.h"

#include "base/template.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::assets {
namespace {

using testing_support::sample_config;
using testing_support::SampleGraph;

config::InstallConfig single_node() {
  config::InstallConfig config = sample_config();
  config.platform = {.type = "none"};
  config.control_plane.replicas = 1;
  config.compute[0].replicas = 0;
  config.bootstrap_in_place = "/dev/vda";
  return config;
}

const ignition::File* find_file(const ignition::Config& config, std::string_view path) {
  const auto found = std::ranges::find(config.storage.files, path, &ignition::File::path);
  return found == config.storage.files.end() ? nullptr : &*found;
}

std::string text_of(const ignition::Config& config, std::string_view path) {
  const ignition::File* file = find_file(config, path);
  return file ? ignition::decode_data_url(file->contents.source.value_or("")).value() : "no " + std::string(path);
}

TEST(SingleNodeConfig, IsABootstrapMachineThatInstallsItself) {
  SampleGraph sample(single_node());
  const ignition::Config& config = sample.get<SingleNodeConfig>().config;
  EXPECT_FALSE(ignition::validate(config).has_errors()) << ignition::validate(config).to_text();
  const std::vector<std::pair<std::string, int>> more = {
      {"/usr/local/bin/bootstrap-in-place.sh", 0555},
      {"/usr/local/bin/install-to-disk.sh", 0555},
      {"/opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh", 0600},
      {"/opt/openshift/bootstrap-in-place/master-update.fcc", 0600},
  };
  for (const auto& [path, mode] : more) {
    const ignition::File* file = find_file(config, path);
    ASSERT_TRUE(file) << path;
    EXPECT_EQ(file->mode, mode) << path;
    EXPECT_EQ(file->user.name, "root") << path;
  }
  EXPECT_EQ(config.storage.files.size(), sample.get<BootstrapConfig>().config.storage.files.size() + more.size());
  EXPECT_NE(text_of(config, "/usr/local/bin/install-to-disk.sh").find("--ignition-file=master.ign '/dev/vda'"),
            std::string::npos);
  const auto unit = std::ranges::find(config.systemd.units, "install-to-disk.service", &ignition::Unit::name);
  ASSERT_NE(unit, config.systemd.units.end());
  EXPECT_EQ(unit->enabled, true);
  for (const ignition::File& file : config.storage.files) {
    if (!file.append.empty()) continue;
    EXPECT_TRUE(template_holes(text_of(config, file.path)).empty()) << file.path;
  }
}

TEST(SingleNodeConfig, MayHaveWorkersAndSeveralPathsOfDisks) {
  config::InstallConfig config = single_node();
  config.compute[0].replicas = 2;
  config.bootstrap_in_place = "/dev/disk/by-id/wwn-0x1 /dev/disk/by-id/wwn-0x2";
  SampleGraph sample(config);
  const std::string script = text_of(sample.get<SingleNodeConfig>().config, "/usr/local/bin/install-to-disk.sh");
  EXPECT_NE(script.find("--ignition-file=master.ign '/dev/disk/by-id/wwn-0x1' '/dev/disk/by-id/wwn-0x2'\n"), std::string::npos)
      << script;
  for (const std::string wrong : {"/dev/vda' x", "/dev/$(id)", "/dev/`id`", "/dev/\"vda", "/dev/vda\n", " "}) {
    config.bootstrap_in_place = wrong;
    EXPECT_FALSE(make_single_node_config(config, testing_support::sample_environment(), {}).ok()) << wrong;
  }
}

TEST(SingleNodeConfig, RefusesWithEveryFieldThatIsWrong) {
  config::InstallConfig config = single_node();
  config.control_plane.replicas = 3;
  config.bootstrap_in_place.reset();
  const auto made = make_single_node_config(config, testing_support::sample_environment(), {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::invalid);
  EXPECT_EQ(made.error().message(),
            "bootstrap in place: error: controlPlane.replicas: must be 1, got 3\n"
            "error: bootstrapInPlace.installationDisk: missing (the disk to install to, for example /dev/sda)");
}

}  // namespace
}  // namespace slipway::assets
