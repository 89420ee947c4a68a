#include "machineconfig/hash.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

MachineConfig sample() {
  MachineConfig config{.name = "ignored", .labels = {{"ignored", "too"}}};
  config.config.ignition.version = ignition::Version::v3_5;
  config.config.systemd.units.push_back({.name = "a.service", .enabled = true, .contents = "[Service]\nExecStart=/bin/true\n"});
  config.kernel_arguments = {std::string(50, 'a') + " " + std::string(50, 'b') + " c"};
  config.kernel_type = "default";
  config.os_image_url = "r.example.com/os@sha256:1";
  return config;
}

// The form that OpenShift's machine-config-operator hashes.
TEST(CanonicalSpec, IsSortedFoldedAndComplete) {
  EXPECT_EQ(canonical_spec(sample()),
            "baseOSExtensionsContainerImage: \"\"\n"
            "config:\n"
            "  ignition:\n"
            "    version: 3.5.0\n"
            "  systemd:\n"
            "    units:\n"
            "    - contents: |\n"
            "        [Service]\n"
            "        ExecStart=/bin/true\n"
            "      enabled: true\n"
            "      name: a.service\n"
            "extensions: []\n"
            "fips: false\n"
            "kernelArguments:\n"
            "- " +
                std::string(50, 'a') + " " + std::string(50, 'b') +
                "\n"
                "  c\n"
                "kernelType: default\n"
                "osImageURL: r.example.com/os@sha256:1\n");
}

// (printf '\020\174...\026'; cat spec.yaml) | md5sum. A change renames all rendered configs: machines of running clusters would
// then wait for names that do not exist any more.
TEST(RenderedName, IsTheSameForEver) {
  EXPECT_EQ(rendered_name("master", sample()), "rendered-master-13f73d3f3c91a7e5cafe3563f97a28e5");
}

TEST(RenderedName, DependsOnTheSpecOnly) {
  MachineConfig other = sample();
  other.name = "another";
  other.annotations = {{"a", "b"}};
  EXPECT_EQ(rendered_name("master", other), rendered_name("master", sample()));
  other.fips = true;
  EXPECT_NE(rendered_name("master", other), rendered_name("master", sample()));
}

}  // namespace
}  // namespace slipway::machineconfig
