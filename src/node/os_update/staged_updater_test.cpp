#include "node/os_update/staged_updater.h"

#include "ignition/make.h"
#include "machineconfig/types.h"
#include "node/os_update/trial.h"

#include "support/fake_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;
using testing_support::FakeMachine;

const std::string one = "sha256:" + std::string(64, '1'), two = "sha256:" + std::string(64, '2');

MachineConfig config(std::string name, std::string_view motd, const std::string& digest) {
  MachineConfig made{.name = std::move(name), .os_image_url = "r.example/os@" + digest};
  made.config.ignition.version = ignition::newest_version;
  ignition::put(made.config, ignition::make_file("/etc/motd", motd, 0644));
  return made;
}

// A machine whose program stages deployments, as OSTree does: a staged one is lost by a power failure, and written by the
// service.
class StagingMachine final : public sys::Runner {
 public:
  StagingMachine() {
    machine.put("/proc/sys/kernel/random/boot_id", "boot-0\n");
    HostDeployment first = made_of(one, "r.example/os@" + one);
    first.deployment.booted = true;
    first.is_staged = false;
    deployments.push_back(first);
  }

  Environment environment() {
    Environment made = machine.environment();
    return {made.context, made.files, *this, made.random, made.http, made.print};
  }

  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    const std::string line = shell_quote(command.argv);
    if (line.starts_with("systemctl list-units")) return sys::Output{.status = 0, .out = failed_units, .err = ""};
    if (line == "systemctl stop ostree-finalize-staged.service") {
      TRY(machine.change_limit.change());
      if (deployments.front().is_staged && !fails_to_finalize) write_staged();
      return sys::Output{};
    }
    if (line.starts_with("ostree admin deploy --stage")) {
      TRY(machine.change_limit.change());
      stage_image(std::string(find_booted(deployments)->image_digest));
      return sys::Output{};
    }
    if (command.argv[0] == "podman") {
      if (command.argv[2] == "exists") return sys::Output{.status = 1, .out = "", .err = ""};
      TRY(machine.change_limit.change());
      return sys::Output{};
    }
    return machine.programs.run(context, command);
  }

  void stage_image(const std::string& digest) {
    std::erase_if(deployments, &HostDeployment::is_staged);
    deployments.insert(deployments.begin(), made_of(digest, "r.example/os@" + digest));
  }
  void discard_pending() {
    while (!deployments.front().deployment.booted) deployments.erase(deployments.begin());
  }
  void rollback() {
    if (deployments.front().deployment.booted) {
      std::iter_swap(deployments.begin(), deployments.begin() + 1);
    } else {
      std::ranges::rotate(deployments,
                          std::ranges::find_if(deployments, [](const auto& each) { return each.deployment.booted; }));
    }
  }

  void start() {
    std::erase_if(deployments, &HostDeployment::is_staged);
    machine.copy_folder("/etc", find_booted(deployments)->deployment.folder() + "/etc");
    for (HostDeployment& each : deployments) each.deployment.booted = false;
    deployments.front().deployment.booted = true;
    machine.copy_folder(deployments.front().deployment.folder() + "/etc", "/etc");
    machine.put("/proc/sys/kernel/random/boot_id", fmt::format("boot-{}\n", ++starts));
  }
  void start_with(std::size_t index) {
    std::swap(deployments[0], deployments[index]);
    start();
    std::swap(deployments[0], deployments[index]);
  }

  FakeMachine machine;
  HostDeployments deployments;
  std::string failed_units;
  bool fails_to_finalize = false;
  int starts = 0;

 private:
  HostDeployment made_of(const std::string& digest, const std::string& image) {
    return {.deployment = {.os = "rhcos", .commit = std::string(64, 'a'), .serial = std::to_string(next_serial_++)},
            .image = image,
            .image_digest = digest,
            .is_staged = true};
  }
  void write_staged() {
    deployments.front().is_staged = false;
    deployments.resize(2);
    machine.copy_folder("/etc", deployments.front().deployment.folder() + "/etc");
  }

  int next_serial_ = 0;
};

class StagingTool final : public DeploymentTool {
 public:
  explicit StagingTool(StagingMachine& machine) : machine_(machine) {}

  Result<HostDeployments> deployments() override { return machine_.deployments; }
  Result<> store_packages(const Images&) override { return machine_.machine.change_limit.change(); }
  Result<> import(const std::string&) override { return machine_.machine.change_limit.change(); }
  Result<> stage(const MachineConfig&, const MachineConfig& to, const HostDeployment& booted) override {
    const std::string digest = to.os_image_url.substr(to.os_image_url.rfind('@') + 1);
    if (is_of_image(booted, digest)) return Ok{};
    TRY(machine_.machine.change_limit.change());
    machine_.stage_image(digest);
    return Ok{};
  }
  Result<> discard_pending() override {
    TRY(machine_.machine.change_limit.change());
    machine_.discard_pending();
    return Ok{};
  }
  Result<> rollback() override {
    TRY(machine_.machine.change_limit.change());
    machine_.rollback();
    return Ok{};
  }

 private:
  StagingMachine& machine_;
};

// A machine that is to change from rendered-1 to rendered-2.
struct UpdatedMachine {
  UpdatedMachine() {
    machine.put("/etc/motd", "one");
    put("currentconfig", config("rendered-1", "one", one));
    want(config("rendered-2", "two", two));
  }
  void put(const std::string& name, const MachineConfig& wanted) {
    machine.put("/etc/machine-config-daemon/" + name, emit_json(to_json(wanted), JsonStyle::compact));
  }
  void want(const MachineConfig& wanted) { put("nextconfig", wanted); }
  std::string state() {
    const Result<Trial> trial = updater.trial();
    if (!trial.ok()) return trial.error().message();
    return trial->state == Trial::State::none ? "none" : trial->state == Trial::State::on_trial ? "on trial" : trial->reason;
  }
  std::string motd_of_next() { return machine.text(host.deployments.front().deployment.folder() + "/etc/motd"); }

  StagingMachine host;
  FakeMachine& machine = host.machine;
  const Environment environment = host.environment();
  StagedUpdater updater{environment, std::make_unique<StagingTool>(host)};
};

TEST(StagedUpdater, TheNewDeploymentHasTheFilesAndTheRunningOneStays) {
  UpdatedMachine m;
  const Result<> staged = m.updater.stage(Wanted::next_config);
  ASSERT_TRUE(staged.ok()) << staged.error().message();
  EXPECT_EQ(m.machine.text("/etc/motd"), "one");
  EXPECT_EQ(m.motd_of_next(), "two");
  const std::string root = m.host.deployments.front().deployment.folder();
  EXPECT_NE(m.machine.text(root + "/etc/systemd/system/slipway-os-limit.service").find("os give-up"), std::string::npos);
  EXPECT_NE(
      m.machine.text(root + "/etc/systemd/system/multi-user.target.d/50-slipway-os-limit.conf").find("slipway-os-limit.timer"),
      std::string::npos);
  EXPECT_EQ(m.state(), "none");
  m.host.start();
  EXPECT_EQ(m.state(), "on trial");
  ASSERT_TRUE(m.updater.accept().ok());
  EXPECT_EQ(m.state(), "none");
  EXPECT_TRUE(is_of_image(m.host.deployments.front(), two));
}

TEST(StagedUpdater, WithoutAnotherImageADeploymentOfTheSameOneIsMade) {
  UpdatedMachine m;
  m.want(config("rendered-2", "two", one));
  ASSERT_TRUE(m.updater.stage(Wanted::next_config).ok());
  m.host.start();
  EXPECT_EQ(m.machine.text("/etc/motd"), "two");
  EXPECT_EQ(m.state(), "on trial");
}

TEST(StagedUpdater, ADeploymentThatIsNotWrittenIsAnError) {
  UpdatedMachine m;
  m.host.fails_to_finalize = true;
  EXPECT_EQ(m.updater.stage(Wanted::next_config).error().message(),
            "the new deployment was not written to the disk: see journalctl --unit=ostree-finalize-staged.service");
}

TEST(StagedUpdater, GivenUpTheDeploymentBeforeBootsAndIsKept) {
  UpdatedMachine m;
  EXPECT_EQ(m.updater.give_up().value(), false);
  ASSERT_TRUE(m.updater.stage(Wanted::next_config).ok());
  EXPECT_EQ(m.updater.give_up().value(), false) << "it does not run yet";
  m.host.start();
  m.host.failed_units = "kubelet.service loaded failed failed The kubelet\n";
  EXPECT_EQ(m.updater.give_up().value(), true);
  EXPECT_EQ(m.updater.give_up().value(), true) << "a second call does not change the order again";
  m.host.start();
  EXPECT_EQ(m.machine.text("/etc/motd"), "one");
  EXPECT_NE(m.state().find("its Node was not Ready in time; units that failed or still start: kubelet.service"),
            std::string::npos)
      << m.state();
  ASSERT_TRUE(m.updater.forget().ok());
  EXPECT_EQ(m.state(), "none");
  m.host.start();
  EXPECT_TRUE(is_of_image(m.host.deployments.front(), one));
}

TEST(StagedUpdater, AnAcceptedDeploymentBootsAgainWhateverATimerHasBegun) {
  UpdatedMachine m;
  ASSERT_TRUE(m.updater.stage(Wanted::next_config).ok());
  m.host.start();
  EXPECT_EQ(m.updater.give_up().value(), true);
  ASSERT_TRUE(m.updater.accept().ok());
  m.host.start();
  EXPECT_TRUE(is_of_image(*find_booted(m.host.deployments), two));
}

TEST(StagedUpdater, APersonWhoSelectsTheDeploymentBeforeEndsTheTrial) {
  UpdatedMachine m;
  ASSERT_TRUE(m.updater.stage(Wanted::next_config).ok());
  m.host.start_with(1);
  EXPECT_EQ(m.state(), "the OS image r.example/os@" + two +
                           " did not work, and the machine has booted the deployment before it: it does not run after a restart");
  ASSERT_TRUE(m.updater.forget().ok());
  m.host.start();
  EXPECT_TRUE(is_of_image(*find_booted(m.host.deployments), one));
}

TEST(StagedUpdater, KilledAtAnyStepTheSameCallFinishesAndAPowerFailureLeavesASystem) {
  for (int left = 0;; ++left) {
    SCOPED_TRACE(left);
    for (const bool has_power : {true, false}) {
      UpdatedMachine m;
      m.machine.change_limit.left = left;
      const Result<> first = m.updater.stage(Wanted::next_config);
      m.machine.revive();
      if (!first.ok()) {
        if (!has_power) {
          m.host.start();
          const std::string state = m.state();
          EXPECT_EQ(state, is_of_image(*find_booted(m.host.deployments), two) ? "on trial" : "none");
          EXPECT_TRUE(state == "none" || m.updater.accept().ok());
        }
        const Result<> second = m.updater.stage(Wanted::next_config);
        ASSERT_TRUE(second.ok()) << second.error().message();
      }
      EXPECT_EQ(m.motd_of_next(), "two");
      m.host.start();
      EXPECT_EQ(m.state(), "on trial");
      EXPECT_EQ(m.machine.text("/etc/motd"), "two");
      EXPECT_TRUE(is_of_image(*find_booted(m.host.deployments), two));
      if (first.ok() && !has_power) return;
    }
  }
}

TEST(StagedUpdater, KilledAtAnyStepATrialIsGivenUpOnce) {
  for (int left = 0;; ++left) {
    SCOPED_TRACE(left);
    UpdatedMachine m;
    ASSERT_TRUE(m.updater.stage(Wanted::next_config).ok());
    m.host.start();
    m.machine.change_limit.left = left;
    const Result<bool> first = m.updater.give_up();
    m.machine.revive();
    EXPECT_EQ(m.updater.give_up().value(), true);
    m.host.start();
    EXPECT_TRUE(is_of_image(*find_booted(m.host.deployments), one));
    if (first.ok()) break;
  }
}

TEST(StagedUpdater, TheFirstConfigHasNoTrial) {
  UpdatedMachine m;
  m.machine.put(first_config_file, emit_json(to_json(config("rendered-1", "one", two)), JsonStyle::compact));
  ASSERT_TRUE(m.updater.stage(Wanted::first_config).ok());
  m.host.start();
  EXPECT_EQ(m.state(), "none");
  EXPECT_EQ(m.machine.text(first_config_file).find("no such file"), 0u);
}

TEST(StagedUpdater, AnImageOfTheMachineIsNotFetched) {
  UpdatedMachine m;
  m.machine.change_limit.left = 0;
  EXPECT_TRUE(m.updater.fetch({.os = "r.example/os@" + one}).ok());
  EXPECT_EQ(m.updater.fetch({.os = "r.example/os:latest"}).error().message(), "osImageURL r.example/os:latest has no digest");
}

}  // namespace
}  // namespace slipway::node
