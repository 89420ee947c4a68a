#include "agent/bootstrap_host.h"

#include "assist/controller.h"
#include "support/node_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::agent {
namespace {

using testing_support::NodeWorld;

constexpr std::string_view config = R"({"ignition": {"version": "3.2.0"}, "storage": {
    "directories": [{"path": "/opt/openshift/auth", "mode": 448}],
    "files": [{"path": "/opt/openshift/auth/kubeconfig", "mode": 384, "contents": {"source": "data:,x"}},
              {"path": "/etc/motd", "append": [{"source": "data:,b"}]},
              {"path": "/opt/openshift/assisted-installer-controller.yaml", "mode": 384,
               "contents": {"source": "data:,image%3A%20%7B%7BCONTROLLER_IMAGE%7D%7D"}}]},
    "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": "[Service]\n"}]}})";

class BootstrapHostTest : public testing::Test {
 protected:
  BootstrapHostTest() {
    world.put(host.config_file(), config);
    world.put("/etc/motd", "a");
    world.runner.answer({"systemctl", "--no-reload", "reenable", "kubelet.service"}, "");
    world.runner.answer({"systemctl", "daemon-reload"}, "");
    world.runner.answer({"systemctl", "start", "--no-block", "release-image.service"}, "");
    world.runner.answer(
        {"systemctl", "start", "--no-block", "kubelet.service", "bootkube.service", "approve-csr.service", "progress.service"},
        "");
    world.runner.answer({"/usr/local/bin/slipway-node", "image-for", "cluster-machine-approver"},
                        "registry.example.com/a@sha256:1\n");
    show("Id=release-image.service\nActiveState=active\nResult=success\n");
    for (const char* path : {"/etc/motd"}) {
      const std::string place = path;
      world.runner.answer(
          {"cp", "-aT", "--remove-destination", place, "/etc/machine-config-daemon/orig/etc/.motd.mcdorig.mcdnew"}, "");
    }
    // What the program `cp` would make.
    world.put("/etc/machine-config-daemon/orig/etc/.motd.mcdorig.mcdnew", "a");
  }

  void show(const std::string& states) {
    world.runner.answer(
        {"systemctl", "show", "--property=Id,LoadState,ActiveState,Result,NRestarts", "release-image.service",
         "crio-configure.service", "kubelet.service", "bootkube.service", "approve-csr.service", "progress.service"},
        states);
  }

  bool ran(const std::string& line) const {
    const auto journal = world.runner.journal();
    return std::ranges::find(journal, line) != journal.end();
  }

  NodeWorld world;
  const net::Environment environment = world.environment();
  BootstrapHost host{environment, "/var/lib/slipway-agent/install"};
  std::vector<std::string> reasons;
  const WaitReport report = [this](const std::string& reason) { reasons.push_back(reason); };
};

TEST_F(BootstrapHostTest, AppliesTheConfigToTheLiveSystem) {
  ASSERT_TRUE(host.plan().ok());
  const Result<> applied = host.apply();
  ASSERT_TRUE(applied.ok()) << applied.error().message();
  EXPECT_EQ(world.text("/etc/motd"), "ab");
  EXPECT_EQ(world.text("/opt/openshift/auth/kubeconfig"), "x");
  EXPECT_EQ(world.text("/etc/systemd/system/kubelet.service"), "[Service]\n");
  EXPECT_TRUE(ran("systemctl daemon-reload"));
  // After a kill before its marker is written.
  ASSERT_TRUE(host.apply().ok());
  EXPECT_EQ(world.text("/etc/motd"), "ab");
}

TEST_F(BootstrapHostTest, StartsTheServicesWhenTheManifestsAreComplete) {
  ASSERT_TRUE(host.plan().ok());
  ASSERT_TRUE(host.apply().ok());
  const Result<> started = host.start(report);
  ASSERT_TRUE(started.ok()) << started.error().message();
  EXPECT_EQ(world.text(std::string(assist::controller_manifest)), "image: registry.example.com/a@sha256:1");
  EXPECT_EQ(world.runner.journal().back(),
            "systemctl start --no-block kubelet.service bootkube.service approve-csr.service progress.service");
}

TEST_F(BootstrapHostTest, AFailedUnitEndsAWaitWithItsJournal) {
  show("Id=release-image.service\nActiveState=failed\nResult=exit-code\n");
  world.runner.answer({"journalctl", "--no-pager", "--output=cat", "--unit", "release-image.service", "--lines", "8"},
                      "cannot pull\nno such image\n");
  const Error why = host.start(report).error();
  EXPECT_EQ(why.code(), Code::internal);
  EXPECT_EQ(why.message(),
            "waiting for the release image: release-image.service failed (exit-code); the end of its journal: cannot pull\nno "
            "such image");
}

TEST_F(BootstrapHostTest, TheBootstrapEndsWithItsReport) {
  show(
      "Id=bootkube.service\nActiveState=inactive\nResult=success\n\nId=progress.service\nActiveState=inactive\nResult=success\n");
  world.put("/opt/openshift/.bootkube.done", "");
  EXPECT_TRUE(host.wait_for_bootkube(report).ok());
  EXPECT_TRUE(reasons.empty());
}

TEST_F(BootstrapHostTest, ASingleNodeHasItsNameAndWaitsForNoReport) {
  BootstrapHost single{environment, "/var/lib/slipway-agent/install", true};
  world.runner.answer({"hostname", "--file", "/etc/hostname"}, "");
  world.runner.answer({"systemctl", "start", "--no-block", "kubelet.service", "bootkube.service"}, "");
  ASSERT_TRUE(single.plan().ok());
  ASSERT_TRUE(single.apply().ok());
  const Result<> started = single.start(report);
  ASSERT_TRUE(started.ok()) << started.error().message();
  const auto journal = world.runner.journal();
  const auto named = std::ranges::find(journal, "hostname --file /etc/hostname");
  EXPECT_LT(named, std::ranges::find(journal, "systemctl start --no-block release-image.service"));
  EXPECT_EQ(journal.back(), "systemctl start --no-block kubelet.service bootkube.service");
  show("Id=bootkube.service\nActiveState=inactive\nResult=success\n\nId=progress.service\nActiveState=inactive\n");
  world.put("/opt/openshift/.bootkube.done", "");
  EXPECT_TRUE(single.wait_for_bootkube(report).ok());
}

TEST_F(BootstrapHostTest, StopsOnlyWhatItStarted) {
  EXPECT_TRUE(host.stop().ok());
  EXPECT_TRUE(world.runner.journal().empty());
  ASSERT_TRUE(host.plan().ok());
  // A plan that was not applied yet: systemd does not know the units.
  show("Id=bootkube.service\nLoadState=not-found\nActiveState=inactive\n");
  EXPECT_TRUE(host.stop().ok());
  show(
      "Id=kubelet.service\nLoadState=loaded\nActiveState=active\n\nId=bootkube.service\nLoadState=loaded\nActiveState="
      "inactive\n");
  world.runner.answer({"systemctl", "stop", "kubelet.service", "bootkube.service"}, "");
  EXPECT_TRUE(host.stop().ok());
  EXPECT_TRUE(ran("systemctl stop kubelet.service bootkube.service"));
}

}  // namespace
}  // namespace slipway::agent
