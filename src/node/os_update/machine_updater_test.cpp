#include "node/os_update/machine_updater.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;
using testing_support::NodeWorld;

const std::string hex(64, '1');

TEST(MachineUpdater, IsChosenByTheProgramsOfTheMachine) {
  struct Case {
    std::vector<std::string> files;
    std::string program;
  };
  const std::vector<Case> cases = {
      {{"/usr/lib/slipway/boot-counter", "/usr/bin/bootc"}, "ostree"},
      {{"/usr/bin/rpm-ostree"}, "rpm-ostree"},
      {{"/usr/bin/rpm-ostree", "/usr/bin/bootc"}, "rpm-ostree"},
      {{"/usr/bin/bootc"}, "bootc"},
      {{},
       "nothing changes the operating system of this machine: it is not slipway's machine OS, and has neither rpm-ostree nor "
       "bootc"},
  };
  for (const Case& c : cases) {
    NodeWorld world;
    for (const std::string& file : c.files) world.put(file, "");
    const auto found = find_os_program(world.files);
    EXPECT_EQ(found.ok() ? std::string(to_text(found.value())) : found.error().message(), c.program);
  }
}

struct CheckedMachine : testing::Test {
  std::string check(const MachineConfig& to) {
    const Result<> checked = check_machine(world.environment(), {}, to);
    return checked.ok() ? "" : checked.error().message();
  }
  NodeWorld world;
};

TEST_F(CheckedMachine, BootcChangesTheImageOnly) {
  world.put("/usr/bin/bootc", "");
  MachineConfig to{.name = "rendered-1", .os_image_url = "r.example/os@sha256:" + hex};
  EXPECT_EQ(check(to), "");
  to.kernel_arguments = {"nosmt"};
  to.kernel_type = "realtime";
  to.extensions = {"usbguard"};
  EXPECT_EQ(
      check(to),
      "kernelArguments: bootc does not set them; put them into /usr/lib/bootc/kargs.d of the image of osImageURL; kernelType: "
      "bootc does not change it; build an image with that kernel; extensions: bootc installs no packages; build an image with "
      "them");
}

TEST_F(CheckedMachine, PackagesOfRpmOstreeComeFromTheImageOfExtensionsAlone) {
  world.put("/usr/bin/rpm-ostree", "");
  world.put("/etc/yum.repos.d/fedora.repo", "[fedora]\nname=x\n");
  MachineConfig to{.name = "rendered-1"};
  to.kernel_arguments = {"nosmt"};
  EXPECT_EQ(check(to), "");
  to.kernel_type = "realtime";
  EXPECT_EQ(
      check(to),
      "/etc/yum.repos.d/fedora.repo: fedora is enabled, and rpm-ostree would install packages from there; set enabled=0 with a "
      "file of a MachineConfig");
  world.put("/etc/yum.repos.d/fedora.repo", "[fedora]\nenabled=0\n");
  world.put("/etc/yum.repos.d/slipway-extensions.repo", "[slipway-extensions]\nenabled=1\n");
  EXPECT_EQ(check(to), "");
}

TEST_F(CheckedMachine, ItsImageAndPackagesAreFoundByItsProgram) {
  world.put("/usr/bin/rpm-ostree", "");
  world.runner.answer(
      {"rpm-ostree", "status", "--json"},
      R"({"deployments":[{"osname":"x","checksum":"a","serial":0,"booted":true,"requested-packages":["usbguard"],)"
      R"("container-image-reference-digest":"sha256:)" +
          hex + R"("}]})");
  const std::string image = "r.example/os@sha256:" + hex, other = "r.example/os@sha256:" + std::string(64, '2');
  const auto runs = [&](const Images& images) { return runs_images(world.environment(), images).value(); };
  EXPECT_TRUE(runs({.os = image}));
  EXPECT_FALSE(runs({.os = other}));
  EXPECT_TRUE(runs({.os = image, .extensions = other, .wanted_extensions = {"usbguard"}}));
  EXPECT_FALSE(runs({.os = image, .extensions = other, .wanted_extensions = {"kernel-rt"}}));
}

}  // namespace
}  // namespace slipway::node
