#include "node/first_boot.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using testing_support::NodeWorld;

const std::string commit(64, 'c');
const std::string digest = "sha256:" + std::string(64, 'd');
const std::string another = "sha256:" + std::string(64, 'e');

const std::string extensions = R"("baseOSExtensionsContainerImage":"registry.example/e@)" + another + "\"";

std::string config(const std::string& image, const std::string& more = "") {
  return R"({"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig","metadata":{"name":"rendered-master-1"},"spec":{"osImageURL":")" +
         image + R"(","config":{"ignition":{"version":"3.2.0"}})" + more + "}}";
}

struct RecordingOs final : OsUpdater {
  Result<> fetch(const Images& images) override {
    std::string call = "fetch " + images.os;
    for (const std::string& name : images.wanted_extensions) call += " " + name;
    calls.push_back(call);
    return Ok{};
  }
  Result<> stage(Wanted wanted) override {
    calls.push_back(wanted == Wanted::first_config ? "stage the first config" : "stage the next config");
    return Ok{};
  }
  Result<Trial> trial() override { return Trial{}; }
  Result<> accept() override { return Ok{}; }
  Result<> forget() override { return Ok{}; }

  std::vector<std::string> calls;
};

// A machine that runs the deployment of `digest`.
struct FirstBoot : testing::Test {
  FirstBoot() {
    const std::string repository = "--repo=/ostree/repo";
    world.runner.answer({"ostree", "admin", "status"}, "* slipway " + commit + ".0\n    origin: <unknown origin type>\n");
    world.runner.answer({"ostree", repository, "refs"}, "slipway/machine-os\n");
    world.runner.answer({"ostree", repository, "rev-parse", "slipway/machine-os"}, commit + "\n");
    world.runner.answer({"ostree", repository, "show", "--print-metadata-key=slipway.image", commit}, "'" + digest + "'\n");
    world.runner.answer({"systemctl", "reboot"}, "");
    world.put("/proc/cmdline", "root=x quiet nosmt\n");
    world.put("/usr/lib/slipway/boot-counter", "");
  }

  NodeWorld world;
  RecordingOs os;
};

TEST_F(FirstBoot, TheWantedSystemNeedsNothingMore) {
  for (const std::string image : {"", "registry.example/a@"}) {
    world.put(first_config_file, config(image.empty() ? "" : image + digest, R"(,"kernelArguments":["nosmt"])"));
    const Result<> done = complete_first_boot(world.environment(), os);
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_FALSE(world.has(first_config_file));
    EXPECT_TRUE(run_first_boot(world.environment(), {"--persist-nics"}).ok());
    EXPECT_TRUE(os.calls.empty());
  }
}

TEST_F(FirstBoot, TheWantedExtensionsNeedNothingMore) {
  const auto answer = [&](const std::string& key, const std::string& value) {
    world.runner.answer({"ostree", "--repo=/ostree/repo", "show", "--print-metadata-key=" + key, commit}, "'" + value + "'\n");
  };
  answer("slipway.extensions", "kernel-rt usbguard");
  answer("slipway.extensions-image", another);
  world.put(first_config_file, config("", R"(,"extensions":["usbguard"],"kernelType":"realtime",)" + extensions));
  const Result<> done = complete_first_boot(world.environment(), os);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_TRUE(os.calls.empty());
  // Others are wanted, or none.
  for (const std::string& other : {config("", R"(,"extensions":["usbguard"],)" + extensions), config("registry.example/a@" + digest)}) {
    os.calls.clear();
    world.put(first_config_file, other);
    EXPECT_EQ(complete_first_boot(world.environment(), os).error().code(), Code::cancelled);
    EXPECT_EQ(os.calls.size(), 2u);
  }
}

TEST_F(FirstBoot, AKernelThatNoReleaseHasIsRefused) {
  world.put(first_config_file, config("", R"(,"kernelType":"64k-pages")"));
  EXPECT_NE(complete_first_boot(world.environment(), os).error().message().find("kernelType: 64k-pages"), std::string::npos);
}

TEST_F(FirstBoot, AnotherSystemOrOtherArgumentsAreBooted) {
  struct Case {
    std::string config;
    std::vector<std::string> calls;
  };
  const std::string image = "registry.example/a@" + another;
  const std::vector<Case> cases = {
      {config(image), {"fetch " + image, "stage the first config"}},
      {config("", R"(,"kernelArguments":["nosmt debug"])"), {"stage the first config"}},
      {config("registry.example/a@" + digest, R"(,"extensions":["usbguard"],"kernelType":"realtime",)" + extensions),
       {"fetch registry.example/a@" + digest + " kernel-rt usbguard", "stage the first config"}},
  };
  for (const Case& c : cases) {
    os.calls.clear();
    world.put(first_config_file, c.config);
    const Result<> done = complete_first_boot(world.environment(), os);
    ASSERT_FALSE(done.ok()) << "the kubelet must not start";
    EXPECT_EQ(done.error().code(), Code::cancelled);
    EXPECT_EQ(os.calls, c.calls);
    EXPECT_EQ(world.runner.journal().back(), "systemctl reboot");
    EXPECT_TRUE(world.has(first_config_file)) << "the running deployment may have to boot again";
  }
}

TEST_F(FirstBoot, ASystemThatDidNotStartIsNotTriedAgain) {
  world.put("/boot/grub/grubenv", "# GRUB Environment Block\nboot_counter=0\nboot_success=0\n");
  world.put(first_config_file, config("registry.example/a@" + another));
  const Result<> done = complete_first_boot(world.environment(), os);
  EXPECT_EQ(done.error().code(), Code::conflict);
  EXPECT_NE(done.error().message().find(another), std::string::npos);
  EXPECT_TRUE(os.calls.empty());
}

TEST_F(FirstBoot, AnImageByTagIsRefused) {
  world.put(first_config_file, config("registry.example/a:latest"));
  EXPECT_EQ(complete_first_boot(world.environment(), os).error().message(),
            std::string(first_config_file) + ": osImageURL registry.example/a:latest has no digest");
}

TEST_F(FirstBoot, AnotherFipsModeIsReported) {
  world.put(first_config_file, config("", R"(,"fips":true)"));
  ASSERT_TRUE(complete_first_boot(world.environment(), os).ok());
  EXPECT_EQ(world.test.logged(),
            (std::vector<std::string>{"warning: the config has FIPS mode on, the kernel has off; continuing"}));
}

}  // namespace
}  // namespace slipway::node
