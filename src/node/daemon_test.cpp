#include "node/daemon.h"

#include "ignition/data_url.h"
#include "ignition/make.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_build.h"

#include "support/fake_kube.h"
#include "support/fake_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;
using testing_support::FakeKube;
using testing_support::FakeMachine;
using testing_support::LimitedApi;

const std::string prefix = "machineconfiguration.openshift.io/";
constexpr const char* first_annotations = "/etc/machine-config-daemon/node-annotations.json";

MachineConfig config(std::string name, std::string_view motd) {
  MachineConfig made{.name = std::move(name)};
  made.config.ignition.version = ignition::newest_version;
  ignition::put(made.config, ignition::make_file("/etc/motd", motd, 0644));
  return made;
}

// The operating system of a machine: which image it has, and what becomes of the next one. Changes can be killed.
struct FakeOs final : OsUpdater {
  explicit FakeOs(FakeMachine& on) : machine(on) {}

  Result<> fetch(const Images& images) override {
    fetched_extensions = images.wanted_extensions;
    if (fetch_failure) return *fetch_failure;
    TRY(machine.change_limit.change());
    fetched = images.os;
    return Ok{};
  }
  Result<> stage(Wanted) override {
    TRY(machine.change_limit.change());
    is_staged = true;
    return Ok{};
  }
  Result<Trial> trial() override { return current; }
  Result<> accept() override {
    TRY(machine.change_limit.change());
    current = {};
    ++accepted;
    return Ok{};
  }
  Result<> forget() override {
    TRY(machine.change_limit.change());
    current = {};
    return Ok{};
  }

  // The staged deployment boots, or does not work. It has the files of nextconfig.
  void boot() {
    if (!is_staged) return;
    is_staged = false;
    const std::string next = machine.text("/etc/machine-config-daemon/nextconfig");
    const MachineConfig wanted = machineconfig::parse_machine_config(parse_json(next, "next").value(), "next").value();
    if (is_broken) {
      current = {.state = Trial::State::failed, .config = state_of(wanted).text(), .reason = "the OS image did not work"};
      return;
    }
    current = {.state = Trial::State::on_trial, .config = state_of(wanted).text()};
    machine.put("/etc/machine-config-daemon/currentconfig", next, 0600);
    (void)machine.memory.remove("/etc/machine-config-daemon/nextconfig");
    for (const machineconfig::WantedFile& file : machineconfig::wanted_files(wanted))
      machine.put(file.path, ignition::decode_data_url(*file.contents.source).value());
  }

  FakeMachine& machine;
  Trial current{};
  std::string fetched;
  std::vector<std::string> fetched_extensions;
  std::optional<Error> fetch_failure;
  bool is_staged = false, is_broken = false;
  int accepted = 0;
};

// A worker that was created with rendered-1, and the controller of its pool.
struct Cluster {
  Cluster() {
    kube.serve(kube::types::machine_configs);
    kube.serve(kube::types::controller_configs);
    kube.serve(kube::types::machine_configurations);
    kube.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "worker-0"}}}});
    put(config("rendered-1", "one"));
    put(config("rendered-2", "two"));
    machine.put("/etc/motd", "one");
    machine.put(first_annotations, R"({"machineconfiguration.openshift.io/currentConfig":"rendered-1",)"
                                   R"("machineconfiguration.openshift.io/state":"Done"})");
  }

  void put(const MachineConfig& made) { kube.put(machineconfig::to_json(made)); }
  Json node() { return *kube.stored(kube::types::nodes, "", "worker-0"); }
  std::string get(const std::string& name) {
    const Json now = node();
    return std::string(find_string(now, {"metadata", "annotations", prefix + name}).value_or(""));
  }
  void set(const std::string& name, const std::string& value) { annotate(prefix + name, value); }
  // slipway's own.
  void mark(const std::string& name, const std::string& value) { annotate("slipway.internal/" + name, value); }
  void annotate(const std::string& key, const std::string& value) {
    Json changed = node();
    JsonObject& metadata = changed.at("metadata").as_object();
    if (!metadata.contains("annotations")) metadata["annotations"] = JsonObject();
    metadata["annotations"].as_object()[key] = value;
    kube.put(std::move(changed));
  }
  void put_ready(bool is_ready) {
    Json changed = node();
    changed.at("metadata");
    changed.as_object()["status"] = {{"conditions", JsonArray{{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}}}}};
    kube.put(std::move(changed));
  }
  // As in the output of `oc` for a node of a pool.
  std::string summary() { return get("currentConfig") + " " + get("state"); }

  std::optional<Daemon::Next> step() {
    Result<Daemon::Next> next = daemon->step(node());
    if (!next.ok()) return std::nullopt;
    return next.value();
  }

  void revive() {
    machine.revive();
    daemon.emplace(environment, api, os);
  }
  void reboot() {
    machine.reboot();
    os.boot();
    ++reboots;
    put_ready(false);
    text_at_boot = machine.text("/etc/motd");
    daemon.emplace(environment, api, os);
  }

  // Runs machine and controller until the daemon waits. drains: whether the controller drains
  void run(bool drains = true) {
    for (int i = 0; i < 40; ++i) {
      const std::string before = summary() + get("desiredDrain") + get("lastAppliedDrain");
      const std::optional<Daemon::Next> next = step();
      if (machine.change_limit.is_dead) {
        ++kills;
        revive();
        continue;
      }
      if (next == Daemon::Next::leave) reboot();
      if (drains) set("lastAppliedDrain", get("desiredDrain"));
      put_ready(true);
      const bool is_still = summary() + get("desiredDrain") + get("lastAppliedDrain") == before;
      if (is_still && next == Daemon::Next::wait) return;
    }
  }

  bool has_run(const std::string& line) {
    const auto& journal = machine.programs.journal;
    return std::ranges::find(journal, line) != journal.end();
  }

  FakeMachine machine;
  const Environment environment = machine.environment();
  FakeKube kube;
  LimitedApi api{kube, machine.change_limit};
  FakeOs os{machine};
  std::optional<Daemon> daemon{std::in_place, environment, api, os};
  int reboots = 0;
  int kills = 0;
  std::string text_at_boot;
};

class DaemonTest : public testing::Test, protected Cluster {};

TEST_F(DaemonTest, ANewMachineSaysWhatItHas) {
  run();
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("desiredConfig"), "rendered-1");
  EXPECT_EQ(get("desiredDrain"), "");
  EXPECT_EQ(machine.text("/etc/machine-config-daemon/node-annotation.json.bak").substr(0, 1), "{");
  EXPECT_EQ(machine.memory.info(first_annotations).value(), std::nullopt);
  EXPECT_TRUE(machine.programs.journal.empty());
  kube.forget();
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(kube.writes(), 0);
}

TEST_F(DaemonTest, WhatTheControllerAskedForMeanwhileStands) {
  set("desiredConfig", "rendered-2");
  run();
  EXPECT_EQ(summary(), "rendered-2 Done");
}

TEST_F(DaemonTest, AMachineWhoseConfigIsNotInTheClusterSaysSo) {
  kube.drop(kube::types::machine_configs, "", "rendered-1");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(get("state"), "Degraded");
  EXPECT_NE(get("reason").find("rendered-1"), std::string::npos);
  put(config("rendered-1", "one"));
  run();
  EXPECT_EQ(summary(), "rendered-1 Done");
}

TEST_F(DaemonTest, AnUpdateDrainsWritesRebootsAndUncordons) {
  run();
  set("desiredConfig", "rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(get("state"), "Working");
  EXPECT_EQ(get("desiredDrain"), "drain-rendered-2");
  EXPECT_EQ(machine.text("/etc/motd"), "one") << "not before it is drained";
  set("lastAppliedDrain", "drain-rendered-2");
  EXPECT_EQ(step(), Daemon::Next::leave);
  EXPECT_EQ(summary(), "rendered-1 Rebooting");
  EXPECT_EQ(machine.text("/etc/motd"), "two");
  EXPECT_TRUE(has_run("systemctl reboot"));
  reboot();
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(get("desiredDrain"), "uncordon-rendered-2");
  EXPECT_EQ(summary(), "rendered-1 Rebooting");
  set("lastAppliedDrain", "uncordon-rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(summary(), "rendered-2 Done");
}

Json policy_for_motd(JsonArray actions) {
  return {
      {"apiVersion", "operator.openshift.io/v1"},
      {"kind", "MachineConfiguration"},
      {"metadata", {{"name", "cluster"}}},
      {"spec",
       {{"nodeDisruptionPolicy", {{"files", JsonArray{JsonObject{{"path", "/etc/motd"}, {"actions", std::move(actions)}}}}}}}}};
}
const JsonArray drain_and_restart = {JsonObject{{"type", "DaemonReload"}}, JsonObject{{"type", "Drain"}},
                                     JsonObject{{"type", "Restart"}, {"restart", {{"serviceName", "app.service"}}}}};

TEST_F(DaemonTest, APolicyReplacesTheReboot) {
  run();
  kube.put(policy_for_motd({JsonObject{{"type", "Reload"}, {"reload", {{"serviceName", "app.service"}}}}}));
  set("desiredConfig", "rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(summary(), "rendered-2 Done");
  EXPECT_EQ(machine.text("/etc/motd"), "two");
  EXPECT_EQ(machine.programs.journal, std::vector<std::string>{"systemctl reload app.service"});
  EXPECT_EQ(get("desiredDrain"), "");
}

TEST_F(DaemonTest, AnActionThatFailsIsToldAndAnotherConfigEndsIt) {
  run();
  machine.programs.missing_unit = "app.service";
  kube.put(policy_for_motd({JsonObject{{"type", "Reload"}, {"reload", {{"serviceName", "app.service"}}}}}));
  set("desiredConfig", "rendered-2");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(step(), Daemon::Next::retry);
    EXPECT_EQ(summary(), "rendered-1 Degraded");
    EXPECT_NE(get("reason").find("Unit app.service not found"), std::string::npos) << get("reason");
    EXPECT_NE(get("reason").find("(reboot this machine, or give it another config"), std::string::npos) << get("reason");
  }
  set("desiredConfig", "rendered-1");
  run();
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("reason"), "");
  EXPECT_EQ(reboots, 1);
  EXPECT_EQ(text_at_boot, "one");
  // A reboot does the same for the config that failed.
  set("desiredConfig", "rendered-2");
  EXPECT_EQ(step(), Daemon::Next::retry);
  reboot();
  run();
  EXPECT_EQ(summary(), "rendered-2 Done");
}

TEST_F(DaemonTest, ADrainWithoutARebootEndsWithTheUncordon) {
  run();
  kube.put(policy_for_motd(drain_and_restart));
  set("desiredConfig", "rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(get("desiredDrain"), "drain-rendered-2");
  EXPECT_EQ(machine.text("/etc/motd"), "one") << "not before it is drained";
  set("lastAppliedDrain", "drain-rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(machine.text("/etc/motd"), "two");
  EXPECT_EQ(machine.programs.journal, (std::vector<std::string>{"systemctl daemon-reload", "systemctl restart app.service"}));
  EXPECT_EQ(get("desiredDrain"), "uncordon-rendered-2");
  EXPECT_EQ(summary(), "rendered-1 Working");
  set("lastAppliedDrain", "uncordon-rendered-2");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(summary(), "rendered-2 Done");
  EXPECT_EQ(reboots, 0);
}

// Updates one cluster after another, killed before the first change, before the second and so on, until none is left. returns:
// the kills
int kill_at_each_step(const std::function<void(Cluster&)>& prepare, const std::function<void(Cluster&)>& judge) {
  for (int step = 0, killed = 0;; ++step) {
    SCOPED_TRACE(fmt::format("killed before change {}", step));
    Cluster cluster;
    prepare(cluster);
    cluster.set("desiredConfig", "rendered-2");
    cluster.machine.change_limit.left = step;
    cluster.run();
    EXPECT_EQ(cluster.summary(), "rendered-2 Done");
    EXPECT_EQ(cluster.machine.text("/etc/motd"), "two");
    EXPECT_EQ(cluster.get("lastAppliedDrain"), "uncordon-rendered-2");
    EXPECT_EQ(cluster.get("reason"), "");
    judge(cluster);
    killed += cluster.kills;
    if (cluster.kills == 0) return killed;
  }
}

TEST_F(DaemonTest, KilledAtAnyStepItGetsThereAndRebootsWithTheNewDisk) {
  const int killed = kill_at_each_step([](Cluster&) {},
                                       [](Cluster& cluster) {
                                         EXPECT_EQ(cluster.text_at_boot, "two");
                                         EXPECT_GE(cluster.reboots, 1);
                                       });
  EXPECT_GT(killed, 10);
}

TEST_F(DaemonTest, KilledAtAnyStepItFollowsThePolicy) {
  const int killed = kill_at_each_step([](Cluster& cluster) { cluster.kube.put(policy_for_motd(drain_and_restart)); },
                                       [](Cluster& cluster) {
                                         EXPECT_EQ(cluster.reboots, 0);
                                         EXPECT_TRUE(cluster.has_run("systemctl restart app.service"));
                                       });
  EXPECT_GT(killed, 8);
}

TEST_F(DaemonTest, WhatFailsOnceIsToldUndoneAndTriedAgain) {
  int failures = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("change {} fails", step));
    Cluster cluster;
    cluster.set("desiredConfig", "rendered-2");
    cluster.machine.change_limit.left = step;
    cluster.machine.change_limit.failure = error(Code::unavailable, "no space left on device");
    for (int i = 0; i < 20; ++i) {
      const std::optional<Daemon::Next> next = cluster.step();
      if (next == Daemon::Next::retry) {
        ++failures;
        EXPECT_EQ(cluster.get("state"), "Degraded");
        EXPECT_NE(cluster.get("reason").find("no space left"), std::string::npos);
      }
      if (next == Daemon::Next::leave) cluster.reboot();
      cluster.set("lastAppliedDrain", cluster.get("desiredDrain"));
    }
    EXPECT_EQ(cluster.summary(), "rendered-2 Done");
    EXPECT_EQ(cluster.get("reason"), "");
    EXPECT_EQ(cluster.text_at_boot, "two");
    if (cluster.machine.change_limit.left >= 0 && cluster.machine.change_limit.failure) break;  // the step was not reached
    ASSERT_LT(step, 100);
  }
  EXPECT_GT(failures, 5);
}

TEST_F(DaemonTest, ABadConfigIsRefusedWithItsReasonAndTakenBack) {
  struct Case {
    std::function<void(MachineConfig&)> change;
    const char* state;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {[](MachineConfig& c) { c.config.passwd.users.push_back({.name = "eve"}); }, "Unreconcilable", "passwd.users"},
      {[](MachineConfig& c) { c.config.storage.directories.push_back({.path = "/etc/d"}); }, "Unreconcilable", "directories"},
      {[](MachineConfig& c) { c.os_image_url = "r/os:latest"; }, "Unreconcilable", "osImageURL: r/os:latest has no digest"},
      {[](MachineConfig& c) { c.kernel_type = "64k-pages"; }, "Unreconcilable", "kernelType: 64k-pages"},
  };
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.run();
    MachineConfig bad = config("rendered-bad", "bad");
    c.change(bad);
    cluster.put(bad);
    cluster.set("desiredConfig", "rendered-bad");
    EXPECT_EQ(cluster.step(), Daemon::Next::retry);
    EXPECT_EQ(cluster.summary(), std::string("rendered-1 ") + c.state);
    EXPECT_NE(cluster.get("reason").find(c.reason), std::string::npos) << cluster.get("reason");
    EXPECT_NE(cluster.get("reason").find("cannot update from rendered-1 to rendered-bad"), std::string::npos);
    EXPECT_EQ(cluster.get("desiredDrain"), "") << "pods stay";
    EXPECT_EQ(cluster.machine.text("/etc/motd"), "one");
    cluster.set("desiredConfig", "rendered-1");
    cluster.run();
    EXPECT_EQ(cluster.summary(), "rendered-1 Done");
    EXPECT_EQ(cluster.get("reason"), "");
    EXPECT_EQ(cluster.reboots, 0);
  }
}

// ---- image mode

const std::string built = "r.example/team/os@sha256:7", rebuilt = "r.example/team/os@sha256:8";

// The states of the daemon and the disk.
struct ImageCluster : Cluster {
  ImageCluster() {
    for (const char* name : {"rendered-1", "rendered-2"}) {
      MachineConfig made = config(name, name == std::string("rendered-1") ? "one" : "two");
      made.os_image_url = "r.example/release-os@sha256:1";
      put(made);
    }
  }
  // The first boot left the machine with this image.
  void start_with(const std::string& image) {
    machine.put(first_annotations, R"({"machineconfiguration.openshift.io/currentConfig":"rendered-1",)"
                                   R"("machineconfiguration.openshift.io/currentImage":")" +
                                       image + R"(","machineconfiguration.openshift.io/state":"Done"})");
    run();
  }
  void ask(const std::string& config, const std::string& image) {
    Json changed = node();
    JsonObject& annotations = changed.at("metadata").at("annotations").as_object();
    annotations[prefix + "desiredConfig"] = config;
    annotations.erase(prefix + "desiredImage");
    if (!image.empty()) annotations[prefix + "desiredImage"] = image;
    kube.put(std::move(changed));
  }
  MachineConfig disk() {
    const std::string text = machine.text("/etc/machine-config-daemon/currentconfig");
    return machineconfig::parse_machine_config(parse_json(text, "disk").value(), "disk").value();
  }
  std::string image_summary() { return summary() + " " + get("currentImage"); }
};

TEST(DaemonImageMode, AMachineThatStartedWithAnImageReportsItWithoutAReboot) {
  ImageCluster cluster;
  cluster.start_with(built);
  EXPECT_EQ(cluster.image_summary(), "rendered-1 Done " + built);
  EXPECT_EQ(cluster.get("desiredConfig"), "rendered-1");
  EXPECT_EQ(cluster.get("desiredImage"), built);
  EXPECT_EQ(cluster.disk().os_image_url, built);
  EXPECT_EQ(cluster.reboots, 0);
  EXPECT_EQ(cluster.get("desiredDrain"), "");
  cluster.kube.forget();
  EXPECT_EQ(cluster.step(), Daemon::Next::wait);
  EXPECT_EQ(cluster.kube.writes(), 0);
}

TEST(DaemonImageMode, EveryChangeOfConfigOrImageIsOneReboot) {
  struct Case {
    const char* what;
    std::string first_image, config, image;
    std::string disk_image;
    int reboots;
  };
  const std::vector<Case> cases = {
      {"the image of the config", "", "rendered-1", "", "r.example/release-os@sha256:1", 0},
      {"opt in", "", "rendered-1", built, built, 1},
      {"the same", built, "rendered-1", built, built, 0},
      {"another image of the same config", built, "rendered-1", rebuilt, rebuilt, 1},
      {"both", built, "rendered-2", rebuilt, rebuilt, 1},
      {"another config with the same image", built, "rendered-2", built, built, 1},
      {"opt out", built, "rendered-1", "", "r.example/release-os@sha256:1", 1},
      {"opt out with another config", built, "rendered-2", "", "r.example/release-os@sha256:1", 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    ImageCluster cluster;
    cluster.start_with(c.first_image);
    cluster.ask(c.config, c.image);
    cluster.run();
    EXPECT_EQ(cluster.image_summary(), c.config + " Done " + c.image);
    EXPECT_EQ(cluster.disk().os_image_url, c.disk_image);
    EXPECT_EQ(cluster.reboots, c.reboots);
    EXPECT_EQ(cluster.get("reason"), "");
    if (c.disk_image != (c.first_image.empty() ? "r.example/release-os@sha256:1" : c.first_image)) {
      EXPECT_EQ(cluster.os.fetched, c.disk_image);
      EXPECT_EQ(cluster.os.accepted, 1);
    }
    if (c.reboots > 0) {
      const std::string state = c.image.empty() ? c.config : c.config + " with image " + c.image;
      EXPECT_EQ(cluster.get("lastAppliedDrain"), "uncordon-" + state);
    }
  }
}

TEST(DaemonImageMode, AnImageThatFailedIsNotTriedAgainButAnotherOneOfTheSameConfigIs) {
  ImageCluster cluster;
  cluster.start_with(built);
  cluster.os.is_broken = true;
  cluster.ask("rendered-1", rebuilt);
  cluster.run();
  EXPECT_EQ(cluster.image_summary(), "rendered-1 Degraded " + built);
  EXPECT_EQ(cluster.get("reason"), "the OS image did not work");
  EXPECT_EQ(cluster.reboots, 1);
  cluster.os.is_broken = false;
  cluster.ask("rendered-1", "r.example/team/os@sha256:9");
  cluster.run();
  EXPECT_EQ(cluster.image_summary(), "rendered-1 Done r.example/team/os@sha256:9");
  EXPECT_EQ(cluster.reboots, 2);
}

TEST(DaemonImageMode, ADrainForOneImageDoesNotCountForAnother) {
  ImageCluster cluster;
  cluster.start_with(built);
  cluster.ask("rendered-1", rebuilt);
  EXPECT_EQ(cluster.step(), Daemon::Next::wait);
  const std::string drained = cluster.get("desiredDrain");
  EXPECT_EQ(drained, "drain-rendered-1 with image " + rebuilt);
  cluster.set("lastAppliedDrain", drained);
  cluster.ask("rendered-1", "r.example/team/os@sha256:9");
  EXPECT_EQ(cluster.step(), Daemon::Next::wait);
  EXPECT_EQ(cluster.get("desiredDrain"), "drain-rendered-1 with image r.example/team/os@sha256:9");
  EXPECT_EQ(cluster.reboots, 0);
}

TEST(DaemonImageMode, AnImageWithoutADigestIsRefused) {
  ImageCluster cluster;
  cluster.start_with(built);
  cluster.ask("rendered-1", "r.example/team/os:latest");
  EXPECT_EQ(cluster.step(), Daemon::Next::retry);
  EXPECT_EQ(cluster.get("state"), "Unreconcilable");
  EXPECT_NE(cluster.get("reason").find("r.example/team/os:latest has no digest"), std::string::npos) << cluster.get("reason");
}

TEST(DaemonImageMode, KilledAtAnyStepItGetsTheImageAndOptsOut) {
  for (const std::string& image : {rebuilt, std::string()}) {
    int killed = 0;
    for (int step = 0;; ++step) {
      SCOPED_TRACE(fmt::format("image '{}', killed before change {}", image, step));
      ImageCluster cluster;
      cluster.start_with(built);
      cluster.ask("rendered-1", image);
      cluster.machine.change_limit.left = step;
      cluster.run();
      EXPECT_EQ(cluster.image_summary(), "rendered-1 Done " + image);
      EXPECT_EQ(cluster.os.current.state, Trial::State::none);
      EXPECT_LE(cluster.reboots, 2);
      killed += cluster.kills;
      if (cluster.kills == 0) break;
    }
    EXPECT_GT(killed, 5);
  }
}

MachineConfig config_with_image(std::string name, std::string_view motd) {
  MachineConfig made = config(std::move(name), motd);
  made.os_image_url = "r.example/os@sha256:2";
  return made;
}

TEST_F(DaemonTest, AnotherImageIsFetchedBeforeTheDrainAndAcceptedWhenTheNodeIsReady) {
  run();
  put(config_with_image("rendered-os", "two"));
  set("desiredConfig", "rendered-os");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.fetched, "r.example/os@sha256:2");
  EXPECT_EQ(get("desiredDrain"), "drain-rendered-os");
  EXPECT_FALSE(os.is_staged);
  set("lastAppliedDrain", "drain-rendered-os");
  EXPECT_EQ(step(), Daemon::Next::leave);
  EXPECT_TRUE(os.is_staged);
  EXPECT_EQ(machine.text("/etc/motd"), "one") << "the running deployment stays as it is";
  reboot();
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.accepted, 0) << "the Node is not Ready yet";
  EXPECT_EQ(get("desiredDrain"), "drain-rendered-os");
  put_ready(true);
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.accepted, 1);
  EXPECT_EQ(get("desiredDrain"), "uncordon-rendered-os");
  run();
  EXPECT_EQ(summary(), "rendered-os Done");
  EXPECT_EQ(machine.text("/etc/motd"), "two");
}

TEST_F(DaemonTest, AnImageThatComesIsFetchedEarlyAndNothingElseHappens) {
  run();
  put(config_with_image("rendered-os", "two"));
  mark("coming-config", "rendered-os");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.fetched, "r.example/os@sha256:2");
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("desiredDrain"), "");
  EXPECT_EQ(machine.text("/etc/motd"), "one");
  os.fetched.clear();
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.fetched, "") << "once";
  set("desiredConfig", "rendered-os");
  run();
  EXPECT_EQ(summary(), "rendered-os Done");
}

TEST_F(DaemonTest, ConfigsThatComeMayBeWrongUntilItIsTheirTurn) {
  run();
  for (const char* name : {"rendered-1", "rendered-2", "missing"}) {
    mark("coming-config", name);
    EXPECT_EQ(step(), Daemon::Next::wait) << name;
    EXPECT_EQ(os.fetched, "") << name << " has no image, or does not exist";
    EXPECT_EQ(summary(), "rendered-1 Done");
  }
  put(config_with_image("rendered-os", "two"));
  os.fetch_failure = error(Code::unavailable, "OS image r.example/os: no connection");
  mark("coming-config", "rendered-os");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("reason"), "");
}

TEST_F(DaemonTest, AReadyNodeOfTheStartBeforeIsNotEnough) {
  run();
  os.current = {.state = Trial::State::on_trial, .config = "rendered-1"};
  put_ready(true);
  machine.put("/proc/sys/kernel/random/boot_id", "this-start\n");
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.accepted, 0);
  Json reported = node();
  reported.at("status").as_object()["nodeInfo"] = {{"bootID", "this-start"}};
  kube.put(std::move(reported));
  EXPECT_EQ(step(), Daemon::Next::wait);
  EXPECT_EQ(os.accepted, 1);
}

TEST_F(DaemonTest, AnImageThatDoesNotWorkIsToldNotTriedAgainAndTakenBack) {
  run();
  MachineConfig bad = config_with_image("rendered-bad", "two");
  ignition::put(bad.config, ignition::make_file("/var/lib/of-all", "two", 0644));
  put(bad);
  os.is_broken = true;
  set("desiredConfig", "rendered-bad");
  run();
  EXPECT_EQ(summary(), "rendered-1 Degraded");
  EXPECT_EQ(get("reason"), "the OS image did not work");
  EXPECT_EQ(reboots, 1);
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(reboots, 1);
  EXPECT_EQ(machine.text("/etc/motd"), "one");
  set("desiredConfig", "rendered-1");
  run();
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("lastAppliedDrain"), "uncordon-rendered-1");
  EXPECT_EQ(get("reason"), "");
  EXPECT_EQ(reboots, 1);
}

TEST_F(DaemonTest, AnImageThatCannotBeFetchedIsToldAndThePodsStay) {
  run();
  put(config_with_image("rendered-os", "two"));
  os.fetch_failure = error(Code::unavailable, "OS image r.example/os: no connection");
  set("desiredConfig", "rendered-os");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(get("reason"), "OS image r.example/os: no connection");
  EXPECT_EQ(get("desiredDrain"), "");
  os.fetch_failure.reset();
  run();
  EXPECT_EQ(summary(), "rendered-os Done");
}

TEST_F(DaemonTest, ExtensionsAreFetchedBeforeTheDrainWithTheImageBelow) {
  run();
  MachineConfig wanted = config("rendered-extended", "two");
  wanted.extensions = {"usbguard"};
  put(wanted);
  set("desiredConfig", "rendered-extended");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_NE(get("reason").find("baseOSExtensionsContainerImage: empty"), std::string::npos) << get("reason");
  wanted.extensions_image = "r.example/extensions@sha256:4";
  wanted.kernel_type = "realtime";
  put(wanted);
  os.fetch_failure = error(Code::invalid, "image of extensions r.example/extensions: it has no extension usbguard");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(get("reason"), os.fetch_failure->message());
  EXPECT_EQ(get("desiredDrain"), "") << "pods stay";
  os.fetch_failure.reset();
  run();
  EXPECT_EQ(os.fetched_extensions, (std::vector<std::string>{"kernel-rt", "usbguard"}));
  EXPECT_EQ(summary(), "rendered-extended Done");
  EXPECT_EQ(reboots, 1);
  // Without them again: there is nothing to fetch.
  os.fetched_extensions = {"none"};
  set("desiredConfig", "rendered-2");
  run();
  EXPECT_EQ(os.fetched_extensions, (std::vector<std::string>{"none"}));
  EXPECT_EQ(summary(), "rendered-2 Done");
  EXPECT_EQ(reboots, 2);
}

TEST_F(DaemonTest, KilledAtAnyStepAnotherImageIsBootedAndAccepted) {
  int killed = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("killed before change {}", step));
    Cluster cluster;
    cluster.put(config_with_image("rendered-os", "two"));
    cluster.set("desiredConfig", "rendered-os");
    cluster.machine.change_limit.left = step;
    cluster.run();
    EXPECT_EQ(cluster.summary(), "rendered-os Done");
    EXPECT_EQ(cluster.machine.text("/etc/motd"), "two");
    EXPECT_EQ(cluster.get("lastAppliedDrain"), "uncordon-rendered-os");
    EXPECT_EQ(cluster.os.current.state, Trial::State::none);
    killed += cluster.kills;
    if (cluster.kills == 0) break;
  }
  EXPECT_GT(killed, 5);
}

TEST_F(DaemonTest, GivenUpWhileItDrainsTheMachineIsUncordoned) {
  run();
  set("desiredConfig", "rendered-2");
  (void)step();
  set("lastAppliedDrain", "drain-rendered-2");
  set("desiredConfig", "rendered-1");
  run();
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(get("lastAppliedDrain"), "uncordon-rendered-1");
  EXPECT_EQ(reboots, 0);
}

TEST_F(DaemonTest, ServicesAreRestartedWithoutADrain) {
  run();
  MachineConfig wanted = config("rendered-3", "one");
  ignition::put(wanted.config,
                ignition::make_file("/usr/local/share/ca-certificates/openshift-config-user-ca-bundle.crt", "x", 0644));
  put(wanted);
  set("desiredConfig", "rendered-3");
  run(false);
  EXPECT_EQ(summary(), "rendered-3 Done");
  EXPECT_EQ(get("desiredDrain"), "");
  EXPECT_EQ(machine.programs.journal, (std::vector<std::string>{"systemctl restart update-ca-certificates.service",
                                                                "systemctl restart containerd.service"}));
  EXPECT_EQ(reboots, 0);
}

TEST_F(DaemonTest, FilesThatSomebodyChangedAreToldAndStopUpdates) {
  run();
  machine.put("/etc/motd", "changed");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(summary(), "rendered-1 Degraded");
  EXPECT_EQ(get("reason"), "files of this machine are different from rendered-1: /etc/motd has other content");
  set("desiredConfig", "rendered-2");
  EXPECT_EQ(step(), Daemon::Next::retry);
  EXPECT_EQ(summary(), "rendered-1 Degraded");
  machine.put("/etc/motd", "one");
  run();
  EXPECT_EQ(summary(), "rendered-2 Done");
}

TEST_F(DaemonTest, ForcedItWritesEverythingAndReboots) {
  run();
  machine.put("/etc/motd", "changed");
  machine.put("/run/machine-config-daemon-force", "");
  run();
  EXPECT_EQ(machine.text("/etc/motd"), "one");
  EXPECT_EQ(summary(), "rendered-1 Done");
  EXPECT_EQ(reboots, 1);
}

TEST_F(DaemonTest, TheDiskIsRightWhenTheNodeSaysSomethingElse) {
  run();
  set("desiredConfig", "rendered-2");
  run();
  set("currentConfig", "rendered-1");  // as after the restore of an old etcd
  run();
  EXPECT_EQ(summary(), "rendered-2 Done");
  EXPECT_EQ(reboots, 1);
}

TEST_F(DaemonTest, AnApiThatIsAwayIsNoFaultOfTheMachine) {
  run();
  set("desiredConfig", "rendered-2");
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.path.find("machineconfigs") == std::string::npos) return std::nullopt;
    return error(Code::unavailable, "no connection");
  };
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(summary(), "rendered-1 Done");
}

// The threads of the daemon, with a real clock, until the Node has the expected state.
TEST(KeepConfigured, FollowsNodeAndAuthorities) {
  testing_support::RealTimeContext test;
  Cluster cluster;
  const sys::Context context = test.context();
  const Environment environment{context, cluster.environment.files, cluster.environment.runner, cluster.environment.random,
                                cluster.environment.http};
  const auto until = [&](const char* what, const std::function<bool()>& is_so) {
    const SteadyTime deadline = test.clock.steady() + Seconds(10);
    while (!is_so()) {
      ASSERT_LT(test.clock.steady(), deadline) << what;
      std::this_thread::yield();
    }
  };
  Result<> ended = error(Code::internal, "still running");
  cluster.machine.put(machineconfig::os_image_source_file, "the server of the first image and its token", 0600);
  std::jthread thread([&] { ended = keep_configured(environment, cluster.kube, cluster.os, "worker-0"); });
  until("the first config", [&] { return cluster.summary() == "rendered-1 Done"; });
  EXPECT_FALSE(cluster.machine.memory.info(machineconfig::os_image_source_file).value().has_value());
  cluster.kube.put(machineconfig::to_json(machineconfig::ControllerConfig{.version = "1", .kubelet_client_ca = "CA"}));
  until("the authorities", [&] { return cluster.machine.text("/etc/kubernetes/kubelet-ca.crt") == "CA"; });
  cluster.set("desiredConfig", "rendered-2");
  until("the drain", [&] { return cluster.get("desiredDrain") == "drain-rendered-2"; });
  cluster.set("lastAppliedDrain", "drain-rendered-2");
  until("the reboot", [&] { return cluster.get("state") == "Rebooting"; });
  test.stop.request_stop();
  thread.join();
  EXPECT_TRUE(ended.ok());
}

}  // namespace
}  // namespace slipway::node
