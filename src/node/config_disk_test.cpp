#include "node/config_disk.h"

#include "ignition/make.h"

#include "support/fake_machine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;
using testing_support::FakeMachine;
using Tree = std::map<std::string, std::string>;

MachineConfig config(std::string name) {
  MachineConfig made{.name = std::move(name)};
  made.config.ignition.version = ignition::newest_version;
  return made;
}

// The config of a new machine: a.service is enabled, /etc/motd is the config's and /usr/etc/motd the image's.
MachineConfig first() {
  MachineConfig made = config("rendered-1");
  ignition::put(made.config, ignition::make_file("/etc/motd", "first", 0644));
  ignition::put(made.config, ignition::make_file("/etc/stays", "same", 0600));
  ignition::put(made.config, ignition::make_file("/etc/made", "first", 0644));
  ignition::put(made.config, ignition::make_unit("a.service", "[Service]\n", true));
  made.config.passwd.users.push_back({.name = "core", .ssh_authorized_keys = {"ssh-ed25519 A a"}});
  return made;
}

// Changes everything that may change.
MachineConfig second() {
  MachineConfig made = config("rendered-2");
  ignition::put(made.config, ignition::make_file("/etc/stays", "same", 0600));
  ignition::put(made.config, ignition::make_file("/etc/made", "second", 0640));
  ignition::put(made.config, ignition::make_file("/etc/image", "second", 0644));
  ignition::put(made.config, ignition::make_file("/etc/new/file", "second", 0600));
  ignition::File owned = ignition::make_file("/var/owned", "second", 0644);
  owned.user.name = "core";
  ignition::put(made.config, std::move(owned));
  ignition::put(made.config, ignition::make_unit("b.service", "[Service]\n[Install]\n", true));
  ignition::put_dropin(made.config, "b.service", "10-more", "[Service]\n");
  made.config.systemd.units.push_back({.name = "c.service", .mask = true});
  made.config.passwd.users.push_back({.name = "core", .password_hash = "$y$x", .ssh_authorized_keys = {"ssh-ed25519 B b"}});
  return made;
}

struct Bench {
  Bench() {
    machine.put("/etc/motd", "first");
    machine.put("/usr/etc/motd", "of the image");
    machine.put("/etc/stays", "same", 0600);
    machine.put("/etc/made", "first");
    machine.put("/etc/image", "of the image", 0640);
    machine.put("/etc/systemd/system/a.service", "[Service]\n");
    machine.put("/etc/systemd/system-preset/20-ignition.preset", "enable a.service\n");
    machine.programs.enabled = {"a.service"};
    (void)disk.set_current(first());
  }

  Result<> change(const MachineConfig& wanted) {
    const machineconfig::Actions actions{.reboot = true};
    MachineConfig current = TRY(disk.current()).value();
    std::optional<MachineConfig> interrupted = TRY(disk.next());
    return disk.change(current, interrupted, wanted, actions);
  }
  // The saved originals of the image.
  Tree originals() {
    Tree all = machine.tree("/etc/machine-config-daemon/orig");
    all.merge(machine.tree("/etc/machine-config-daemon/noorig"));
    return all;
  }
  std::string drift(const MachineConfig& from) { return disk.find_drift({&from}).value().value_or(""); }

  static Tree after_second() {
    return {{"/etc/image", "0644 second"},
            {"/etc/made", "0640 second"},
            {"/etc/motd", "0644 of the image"},
            {"/etc/new/file", "0600 second"},
            {"/etc/stays", "0600 same"},
            {"/etc/systemd/system/b.service", "0644 [Service]\n[Install]\n"},
            {"/etc/systemd/system/b.service.d/10-more.conf", "0644 [Service]\n"},
            {"/etc/systemd/system/c.service", "0777 "}};
  }
  static Tree after_first() {
    return {{"/etc/image", "0640 of the image"},
            {"/etc/made", "0644 first"},
            {"/etc/motd", "0644 first"},
            {"/etc/stays", "0600 same"},
            {"/etc/systemd/system/a.service", "0644 [Service]\n"}};
  }

  FakeMachine machine;
  const Environment environment = machine.environment();
  ConfigDisk disk{environment};
};

class ConfigDiskTest : public testing::Test, protected Bench {};

TEST_F(ConfigDiskTest, BecomesWhatTheConfigWantsAndBack) {
  ASSERT_EQ(drift(first()), "");
  const Result<> there = change(second());
  ASSERT_TRUE(there.ok()) << there.error().message();
  EXPECT_EQ(machine.tree("/etc"), after_second());
  EXPECT_EQ(machine.text("/var/owned"), "second");
  EXPECT_EQ(machine.text("/home/core/.ssh/authorized_keys.d/ignition"), "ssh-ed25519 B b\n");
  EXPECT_EQ(machine.programs.enabled, std::set<std::string>{"b.service"});
  EXPECT_EQ(drift(second()), "");
  EXPECT_EQ(disk.current().value(), second());
  EXPECT_EQ(disk.next().value(), std::nullopt);
  EXPECT_EQ(disk.after_update().value()->config, "rendered-2");
  EXPECT_TRUE(disk.after_update().value()->actions.reboot);
  const auto& journal = machine.programs.journal;
  EXPECT_NE(std::ranges::find(journal, "chown --no-dereference core: /var/.owned.mcdnew"), journal.end());
  EXPECT_NE(std::ranges::find(journal, "chpasswd --encrypted < core:$y$x\n"), journal.end());

  const Result<> back = change(first());
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(machine.tree("/etc"), after_first());
  EXPECT_EQ(machine.tree("/var"), Tree());
  EXPECT_EQ(machine.text("/home/core/.ssh/authorized_keys.d/ignition"), "ssh-ed25519 A a\n");
  EXPECT_EQ(machine.programs.enabled, std::set<std::string>{"a.service"});
}

TEST_F(ConfigDiskTest, KilledAnywhereTheSameAgainReachesTheSameEnd) {
  int killed = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("killed before change {}", step));
    Bench fresh;
    fresh.machine.change_limit.left = step;
    if (fresh.change(second()).ok()) break;
    ++killed;
    ASSERT_TRUE(fresh.machine.change_limit.is_dead);
    fresh.machine.revive();
    const MachineConfig current = fresh.disk.current().value().value();
    if (current.name == first().name) {
      std::optional<MachineConfig> interrupted = fresh.disk.next().value();
      if (interrupted) fresh.machine.put("/etc/.made.a1B2c3", "as a write leaves it that is killed");
      if (interrupted) fresh.machine.put("/etc/passwd.4711", "as chpasswd leaves it that is killed");
      std::vector<const MachineConfig*> allowed{&current};
      if (interrupted) allowed.push_back(&*interrupted);
      EXPECT_EQ(fresh.disk.find_drift(allowed).value(), std::nullopt);
      ASSERT_TRUE(fresh.change(second()).ok());
    }
    EXPECT_EQ(fresh.machine.tree("/etc"), after_second());
    EXPECT_EQ(fresh.machine.programs.enabled, std::set<std::string>{"b.service"});
    EXPECT_EQ(fresh.disk.after_update().value()->config, "rendered-2");
    ASSERT_TRUE(fresh.change(first()).ok());
    EXPECT_EQ(fresh.machine.tree("/etc"), after_first());
  }
  EXPECT_GT(killed, 20);
}

TEST_F(ConfigDiskTest, LocksOfProgramsThatRunStay) {
  machine.put("/proc/4711/stat", "");
  for (const char* name : {"shadow.4711", "shadow.4712", "shadow.d", "shadow.", "hosts.4712"}) {
    machine.put(std::string("/etc/") + name, "");
  }
  ASSERT_TRUE(disk.set_next(second()).ok());
  ASSERT_TRUE(change(second()).ok());
  Tree expected = after_second();
  for (const char* name : {"shadow.4711", "shadow.d", "shadow.", "hosts.4712"}) expected[std::string("/etc/") + name] = "0644 ";
  EXPECT_EQ(machine.tree("/etc"), expected);
}

TEST_F(ConfigDiskTest, KilledAnywhereItCanGoBackOrElsewhere) {
  MachineConfig third = first();
  third.name = "rendered-3";
  ignition::put(third.config, ignition::make_file("/etc/third", "third", 0644));
  Tree after_third = after_first();
  after_third["/etc/third"] = "0644 third";
  for (int step = 0;; ++step) {
    Bench fresh;
    fresh.machine.change_limit.left = step;
    if (fresh.change(second()).ok()) break;
    fresh.machine.revive();
    if (fresh.disk.current().value()->name != first().name) continue;
    SCOPED_TRACE(fmt::format("killed before change {}", step));
    const bool goes_back = step % 2 == 0;
    // Interrupted a second time.
    fresh.machine.change_limit.left = step / 2;
    (void)fresh.change(goes_back ? first() : third);
    fresh.machine.revive();
    ASSERT_TRUE(fresh.change(goes_back ? first() : third).ok());
    EXPECT_EQ(fresh.machine.tree("/etc"), goes_back ? after_first() : after_third);
    EXPECT_EQ(fresh.disk.next().value(), std::nullopt);
    EXPECT_EQ(fresh.machine.programs.enabled, std::set<std::string>{"a.service"});
  }
}

TEST_F(ConfigDiskTest, WhatFailsIsUndone) {
  int failed = 0;
  for (int step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("change {} fails", step));
    Bench fresh;
    fresh.machine.change_limit.left = step;
    fresh.machine.change_limit.failure = error(Code::unavailable, "no space left on device");
    const Result<> changed = fresh.change(second());
    fresh.machine.revive();
    if (changed.ok()) break;
    ++failed;
    EXPECT_NE(changed.error().message().find("no space left"), std::string::npos);
    // all files are written, so nothing is rolled back; a retry completes the change
    if (fresh.disk.after_update().value()) continue;
    EXPECT_EQ(fresh.disk.next().value(), std::nullopt);
    EXPECT_EQ(fresh.originals(), Tree());
    Tree expected = after_first();
    // The preset is not needed after the first boot.
    const Tree tree = fresh.machine.tree("/etc");
    if (tree.contains("/etc/systemd/system-preset/20-ignition.preset")) {
      expected["/etc/systemd/system-preset/20-ignition.preset"] = "0644 enable a.service\n";
    }
    EXPECT_EQ(tree, expected);
    EXPECT_EQ(fresh.machine.programs.enabled, std::set<std::string>{"a.service"});
  }
  EXPECT_GT(failed, 20);
}

TEST_F(ConfigDiskTest, FilesOfOthersAreLeftAloneWhenAnUpdateStopsBeforeThem) {
  MachineConfig wanted = first();
  wanted.name = "rendered-2";
  ignition::put(wanted.config, ignition::make_file("/srv/mine", "theirs", 0644));
  machine.put("/srv/mine", "mine");
  machine.change_limit.left = 2;  // the preset, nextconfig
  machine.change_limit.failure = error(Code::unavailable, "no");
  ASSERT_FALSE(change(wanted).ok());
  EXPECT_EQ(machine.text("/srv/mine"), "mine");
}

TEST_F(ConfigDiskTest, WhatSomebodyElseChangedIsNamed) {
  machine.put("/etc/motd", "changed");
  machine.put("/etc/stays", "same", 0644);
  (void)machine.memory.remove("/etc/systemd/system/a.service");
  EXPECT_EQ(drift(first()),
            "different from rendered-1: /etc/motd has other content; /etc/stays has mode 0644 instead of 0600; "
            "/etc/systemd/system/a.service is missing");
}

TEST_F(ConfigDiskTest, ContentsAreUnpacked) {
  MachineConfig wanted = first();
  wanted.name = "rendered-2";
  wanted.config.storage.files[0].contents = {.source = "data:,packed", .compression = "gzip"};
  ASSERT_TRUE(change(wanted).ok());
  EXPECT_EQ(machine.text("/etc/motd"), "unpacked packed");
  EXPECT_EQ(drift(wanted), "");
}

TEST_F(ConfigDiskTest, TheKubeletsAuthoritiesAreWrittenOnce) {
  ASSERT_TRUE(disk.keep_kubelet_ca("").ok());
  EXPECT_EQ(machine.text("/etc/kubernetes/kubelet-ca.crt").substr(0, 7), "no such");
  ASSERT_TRUE(disk.keep_kubelet_ca("CA").ok());
  EXPECT_EQ(machine.text("/etc/kubernetes/kubelet-ca.crt"), "CA");
  machine.change_limit.left = 0;
  EXPECT_TRUE(disk.keep_kubelet_ca("CA").ok());
}

}  // namespace
}  // namespace slipway::node
