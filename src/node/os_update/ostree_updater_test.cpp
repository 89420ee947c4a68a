#include "node/os_update/ostree_updater.h"

#include "ignition/make.h"
#include "machineconfig/types.h"
#include "node/os_update/trial.h"

#include "support/fake_ostree.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;
using testing_support::FakeOstree;

MachineConfig config(std::string name, std::string_view motd, std::vector<std::string> arguments = {}) {
  MachineConfig made{.name = std::move(name), .os_image_url = "r.example/os@" + FakeOstree::first_image()};
  made.kernel_arguments = std::move(arguments);
  made.config.ignition.version = ignition::newest_version;
  ignition::put(made.config, ignition::make_file("/etc/motd", motd, 0644));
  return made;
}

// A machine that is to change from rendered-1 to rendered-2.
struct OstreeUpdaterTest : testing::Test {
  void want(const MachineConfig& wanted) {
    machine.put("/etc/machine-config-daemon/currentconfig",
                emit_json(to_json(config("rendered-1", "one", {"a"})), JsonStyle::compact));
    machine.put("/etc/machine-config-daemon/nextconfig", emit_json(to_json(wanted), JsonStyle::compact));
  }
  std::string state() {
    const Result<Trial> trial = updater.trial();
    if (!trial.ok()) return trial.error().message();
    return trial->state == Trial::State::none ? "none" : trial->state == Trial::State::on_trial ? "on trial" : trial->reason;
  }

  FakeOstree machine{"root=x a quiet"};
  const Environment environment = machine.environment();
  OstreeUpdater updater{environment, [] { return error(Code::unavailable, "no network"); }};
};

TEST_F(OstreeUpdaterTest, ANewDeploymentHasArgumentsAndFilesAndTheRunningOneStays) {
  machine.put("/etc/motd", "one");
  want(config("rendered-2", "two", {"b c"}));
  const Result<> staged = updater.stage(Wanted::next_config);
  ASSERT_TRUE(staged.ok()) << staged.error().message();
  EXPECT_EQ(machine.next().arguments, "root=x quiet b c");
  EXPECT_EQ(machine.text("/etc/motd"), "one");
  EXPECT_EQ(machine.text(machine.next().folder() + "/etc/motd"), "two");
  EXPECT_EQ(machine.counter, 3);
  EXPECT_EQ(state(), "none");
  machine.boot();
  EXPECT_EQ(state(), "on trial");
  ASSERT_TRUE(updater.accept().ok());
  EXPECT_EQ(state(), "none");
  EXPECT_EQ(machine.counter, std::nullopt);
  EXPECT_EQ(machine.next().arguments, "root=x quiet b c");
}

TEST_F(OstreeUpdaterTest, AnImageThatIsMissingIsNamed) {
  MachineConfig wanted = config("rendered-2", "two");
  wanted.os_image_url = "r.example/os@sha256:" + std::string(64, '9');
  want(wanted);
  EXPECT_EQ(updater.stage(Wanted::next_config).error().message(), "OS image " + wanted.os_image_url + " is not on this machine");
  EXPECT_EQ(updater.fetch({.os = wanted.os_image_url}).error().message(), "no network");
  EXPECT_EQ(updater.fetch({.os = "r.example/os:latest"}).error().message(), "osImageURL r.example/os:latest has no digest");
}

TEST_F(OstreeUpdaterTest, ExtensionsAndTheRealTimeKernelAreAnotherCommitOfTheSameImage) {
  const std::string extensions = "sha256:" + std::string(64, 'e'), extended(64, 'd');
  MachineConfig wanted = config("rendered-2", "two", {"a"});
  wanted.extensions = {"usbguard"};
  wanted.kernel_type = "realtime";
  want(wanted);
  EXPECT_EQ(updater.stage(Wanted::next_config).error().message(),
            "baseOSExtensionsContainerImage: empty, so there is no image with kernel-rt, usbguard");
  wanted.extensions_image = "r.example/extensions@" + extensions;
  want(wanted);
  EXPECT_EQ(
      updater.stage(Wanted::next_config).error().message(),
      "OS image " + wanted.os_image_url + " with kernel-rt, usbguard of " + wanted.extensions_image + " is not on this machine");
  EXPECT_EQ(updater.fetch(images_of(wanted).value()).error().message(), "no network");

  machine.refs.push_back({"slipway/extended/1",
                          extended,
                          {{"slipway.image", FakeOstree::first_image()},
                           {"slipway.extensions-image", extensions},
                           {"slipway.extensions", "kernel-rt usbguard"}}});
  ASSERT_TRUE(updater.stage(Wanted::next_config).ok());
  EXPECT_EQ(machine.next().commit, extended);
  machine.boot();
  EXPECT_EQ(state(), "on trial");
  ASSERT_TRUE(updater.accept().ok());
  EXPECT_EQ(machine.refs.size(), 2u) << "the image below stays";

  // The same with an image that the config does not name.
  wanted.os_image_url.clear();
  want(wanted);
  ASSERT_TRUE(updater.stage(Wanted::next_config).ok());
  EXPECT_EQ(machine.next().commit, extended);
  // Without them.
  want(config("rendered-3", "three", {"a"}));
  ASSERT_TRUE(updater.stage(Wanted::next_config).ok());
  machine.boot();
  EXPECT_EQ(machine.next().commit, std::string(64, 'a'));
  EXPECT_EQ(state(), "on trial");
  machine.fall_back();
  EXPECT_EQ(state().find("the kernel arguments or the extensions of rendered-3 did not work"), 0u) << state();
}

TEST_F(OstreeUpdaterTest, ThreeAttemptsThatFailLeadBackAndAreForgottenOnRequest) {
  want(config("rendered-2", "two", {"b"}));
  ASSERT_TRUE(updater.stage(Wanted::next_config).ok());
  machine.fall_back();
  EXPECT_EQ(
      state(),
      "the kernel arguments or the extensions of rendered-2 did not work, and the machine has booted the deployment before it: "
      "it did not start completely in three attempts");
  ASSERT_TRUE(updater.forget().ok());
  EXPECT_EQ(state(), "none");
  EXPECT_EQ(machine.next().arguments, "root=x a quiet");
  EXPECT_EQ(machine.counter, std::nullopt);
}

TEST_F(OstreeUpdaterTest, GivenUpTheDeploymentBeforeBoots) {
  EXPECT_EQ(updater.give_up().value(), false);
  want(config("rendered-2", "two", {"b"}));
  ASSERT_TRUE(updater.stage(Wanted::next_config).ok());
  EXPECT_EQ(updater.give_up().value(), false) << "it does not run yet";
  machine.boot();
  machine.failed_units = "kubelet.service loaded failed failed The kubelet\n";
  EXPECT_EQ(updater.give_up().value(), true);
  machine.boot();
  EXPECT_NE(state().find("its Node was not Ready in time; units that failed or still start: kubelet.service"), std::string::npos);
  EXPECT_EQ(machine.next().arguments, "root=x a quiet");
}

TEST_F(OstreeUpdaterTest, TheFirstConfigOnlyChangesImageAndArguments) {
  machine.put(first_config_file, emit_json(to_json(config("rendered-1", "one", {"b"})), JsonStyle::compact));
  ASSERT_TRUE(updater.stage(Wanted::first_config).ok());
  EXPECT_EQ(machine.next().arguments, "root=x a quiet b");
  EXPECT_EQ(machine.text(machine.next().folder() + first_config_file).find("no such file"), 0u);
  machine.boot();
  EXPECT_EQ(state(), "none") << "the kubelet does not run yet";
}

TEST_F(OstreeUpdaterTest, KilledAtAnyStepTheSameCallFinishesOrTheOldSystemStays) {
  for (int left = 0;; ++left) {
    SCOPED_TRACE(left);
    FakeOstree other{"root=x a quiet"};
    const Environment environment_of_other = other.environment();
    OstreeUpdater again{environment_of_other, [] { return error(Code::unavailable, "no network"); }};
    other.put("/etc/machine-config-daemon/currentconfig",
              emit_json(to_json(config("rendered-1", "one", {"a"})), JsonStyle::compact));
    other.put("/etc/machine-config-daemon/nextconfig",
              emit_json(to_json(config("rendered-2", "two", {"b"})), JsonStyle::compact));
    other.change_limit.left = left;
    const Result<> first = again.stage(Wanted::next_config);
    other.revive();
    if (!first.ok()) {
      EXPECT_EQ(other.next().arguments, "root=x a quiet") << "a power failure now boots the old system";
      const Result<> second = again.stage(Wanted::next_config);
      ASSERT_TRUE(second.ok()) << second.error().message();
    }
    EXPECT_EQ(other.next().arguments, "root=x quiet b");
    EXPECT_EQ(other.text(other.next().folder() + "/etc/motd"), "two");
    if (first.ok()) break;
  }
}

}  // namespace
}  // namespace slipway::node
