#include "machineconfig/update_plan.h"

#include "ignition/make.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::machineconfig {
namespace {

using Change = std::function<void(MachineConfig&)>;

MachineConfig start() {
  MachineConfig config{.name = "rendered-worker-1", .os_image_url = "r/os@sha256:1"};
  config.config.ignition.version = ignition::newest_version;
  ignition::put(config.config, ignition::make_file("/etc/motd", "hello", 0644));
  ignition::put(config.config, ignition::make_file("/var/lib/kubelet/config.json", "{}", 0600));
  ignition::put(config.config, ignition::make_unit("a.service", "[Service]\nExecStart=/bin/true\n", true));
  ignition::put_dropin(config.config, "b.service", "10-more", "[Service]\n");
  config.config.storage.links.push_back(ignition::make_link("/etc/old", "motd"));
  config.config.passwd.users.push_back({.name = "core", .ssh_authorized_keys = {"ssh-ed25519 A a"}});
  return config;
}

MachineConfig with(const Change& change) {
  MachineConfig config = start();
  change(config);
  return config;
}

TEST(UpdatePlan, WhatDiffersSaysWhatToDo) {
  struct Case {
    const char* what;
    Change change;
    Differences differences;
    Actions actions;
  };
  const Actions nothing, reboot{.reboot = true};
  const std::string bundle = "/usr/local/share/ca-certificates/openshift-config-user-ca-bundle.crt";
  const std::vector<Case> cases = {
      {"nothing", [](MachineConfig&) {}, {}, nothing},
      {"the same bytes",
       [](MachineConfig& c) { c.config.storage.files[0].contents.source = "data:;base64,aGVsbG8="; },
       {},
       nothing},
      {"the default mode", [](MachineConfig& c) { c.config.storage.files[0].mode.reset(); }, {}, nothing},
      {"content",
       [](MachineConfig& c) { c.config.storage.files[0].contents.source = "data:,bye"; },
       {.files = {"/etc/motd"}},
       reboot},
      {"mode", [](MachineConfig& c) { c.config.storage.files[0].mode = 0600; }, {.files = {"/etc/motd"}}, reboot},
      {"owner", [](MachineConfig& c) { c.config.storage.files[0].user.name = "core"; }, {.files = {"/etc/motd"}}, reboot},
      {"file goes",
       [](MachineConfig& c) { c.config.storage.files.erase(c.config.storage.files.begin()); },
       {.files = {"/etc/motd"}},
       reboot},
      {"pull secret",
       [](MachineConfig& c) { c.config.storage.files[1].contents.source = "data:,{1}"; },
       {.files = {"/var/lib/kubelet/config.json"}},
       nothing},
      {"mirrors",
       [](MachineConfig& c) { ignition::put(c.config, ignition::make_file("/etc/containerd/certs.d/q/hosts.toml", "", 0644)); },
       {.files = {"/etc/containerd/certs.d/q/hosts.toml"}},
       nothing},
      {"logins of mirrors",
       [](MachineConfig& c) { ignition::put(c.config, ignition::make_file("/etc/containerd/conf.d/10-slipway.toml", "", 0600)); },
       {.files = {"/etc/containerd/conf.d/10-slipway.toml"}},
       {.services = {{"restart", "containerd.service"}}}},
      {"beside the mirrors",
       [](MachineConfig& c) { ignition::put(c.config, ignition::make_file("/etc/containerd/certs.d-more", "", 0644)); },
       {.files = {"/etc/containerd/certs.d-more"}},
       reboot},
      {"authorities",
       [&](MachineConfig& c) { ignition::put(c.config, ignition::make_file(bundle, "x", 0644)); },
       {.files = {bundle}},
       {.services = {{"restart", "update-ca-certificates.service"}, {"restart", "containerd.service"}}}},
      {"authorities and more",
       [&](MachineConfig& c) {
         ignition::put(c.config, ignition::make_file(bundle, "x", 0644));
         ignition::put(c.config, ignition::make_file("/etc/x", "x", 0644));
       },
       {.files = {"/etc/x", bundle}},
       reboot},
      {"unit text",
       [](MachineConfig& c) { c.config.systemd.units[0].contents = "[Service]\nExecStart=/bin/false\n"; },
       {.units = {"a.service"}},
       reboot},
      {"unit enabled", [](MachineConfig& c) { c.config.systemd.units[0].enabled = false; }, {.units = {"a.service"}}, reboot},
      {"dropin", [](MachineConfig& c) { c.config.systemd.units[1].dropins.clear(); }, {.units = {"b.service"}}, reboot},
      {"keys",
       [](MachineConfig& c) { c.config.passwd.users[0].ssh_authorized_keys = {"ssh-ed25519 B b"}; },
       {.core_access = true},
       nothing},
      {"image", [](MachineConfig& c) { c.os_image_url = "r/os@sha256:2"; }, {.os_image = true}, reboot},
      {"image elsewhere", [](MachineConfig& c) { c.os_image_url = "mirror/os@sha256:1"; }, {}, nothing},
      {"kernel arguments", [](MachineConfig& c) { c.kernel_arguments = {"debug"}; }, {.kernel = true}, reboot},
      {"kernel by its name", [](MachineConfig& c) { c.kernel_type = "default"; }, {}, nothing},
      {"kernel", [](MachineConfig& c) { c.kernel_type = "realtime"; }, {.kernel = true, .extensions = true}, reboot},
      {"extension", [](MachineConfig& c) { c.extensions = {"ipsec"}; }, {.extensions = true}, reboot},
      {"image of no extension", [](MachineConfig& c) { c.extensions_image = "r/e@sha256:9"; }, {}, nothing},
  };
  for (const Case& c : cases) {
    const Differences found = differences(start(), with(c.change));
    EXPECT_EQ(found, c.differences) << c.what;
    EXPECT_EQ(actions_for(found, default_disruption_policy()), c.actions) << c.what;
    EXPECT_EQ(differences(with(c.change), start()), c.differences) << c.what << ", back";
    EXPECT_EQ(parse_actions(to_json(c.actions), "actions").value(), c.actions) << c.what;
  }
}

TEST(UpdatePlan, ThePolicySaysWhatADifferenceNeeds) {
  using Type = DisruptionAction::Type;
  const DisruptionPolicy policy = {.files = {{"/etc/a", {{Type::reload, "a.service"}}},
                                             {"/etc/a/b", {{Type::drain}, {Type::restart, "b.service"}}},
                                             {"/etc/quiet", {}},
                                             {"/etc/hard", {{Type::reboot}}}},
                                   .units = {{"a.service", {{Type::daemon_reload}, {Type::restart, "a.service"}}}},
                                   .core_access = {{Type::reload, "ssh.service"}}};
  struct Case {
    Differences differences;
    Actions actions;
  };
  const ServiceAction again{"daemon-reload"}, reload_a{"reload", "a.service"}, restart_a{"restart", "a.service"},
      restart_b{"restart", "b.service"};
  const std::vector<Case> cases = {
      {{}, {}},
      {{.files = {"/etc/quiet", "/etc/quiet/x"}}, {}},
      {{.files = {"/etc/quietly"}}, {.reboot = true}},
      {{.files = {"/etc/a"}}, {.services = {reload_a}}},
      {{.files = {"/etc/a/bb", "/etc/a/c"}}, {.services = {reload_a}}},
      {{.files = {"/etc/a/b", "/etc/a/b/c"}}, {.drain = true, .services = {restart_b}}},
      {{.files = {"/etc/a/b", "/etc/a/c", "/etc/quiet"}}, {.drain = true, .services = {restart_b, reload_a}}},
      {{.files = {"/etc/a/b", "/etc/hard"}}, {.reboot = true}},
      {{.files = {"/etc/a/b", "/etc/other"}}, {.reboot = true}},
      {{.units = {"a.service"}}, {.services = {again, restart_a}}},
      {{.files = {"/etc/a"}, .units = {"a.service"}}, {.services = {again, reload_a, restart_a}}},
      {{.units = {"a.service", "b.service"}}, {.reboot = true}},
      {{.core_access = true}, {.services = {{"reload", "ssh.service"}}}},
      {{.files = {"/etc/quiet"}, .kernel = true}, {.reboot = true}},
      {{.files = {"/etc/a/b"}, .os_image = true}, {.reboot = true}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Actions actions = actions_for(cases[i].differences, policy);
    EXPECT_EQ(actions, cases[i].actions) << i;
    EXPECT_EQ(actions.needs_drain(), actions.reboot || actions.drain) << i;
    EXPECT_EQ(parse_actions(to_json(actions), "actions").value(), actions) << i;
  }
}

TEST(UpdatePlan, WhatOnlyANewMachineCanGetIsRefusedInWords) {
  struct Case {
    Change change;
    const char* reason;  // "": allowed
  };
  const std::vector<Case> cases = {
      {[](MachineConfig& c) { c.config.storage.files[0].contents.source = "data:,bye"; }, ""},
      {[](MachineConfig& c) { c.config.storage.files.clear(); }, ""},
      {[](MachineConfig& c) { c.config.systemd.units.clear(); }, ""},
      {[](MachineConfig& c) { c.config.storage.links.clear(); }, ""},
      {[](MachineConfig& c) { c.config.passwd.users.clear(); }, ""},
      {[](MachineConfig& c) { c.config.passwd.users[0].password_hash = "$y$"; }, ""},
      {[](MachineConfig& c) { c.config.passwd.users[0].shell = "/bin/sh"; }, "passwd.users"},
      {[](MachineConfig& c) { c.config.passwd.users.push_back({.name = "eve"}); }, "passwd.users"},
      {[](MachineConfig& c) { c.config.passwd.groups.push_back({.name = "eve"}); }, "passwd.groups"},
      {[](MachineConfig& c) { c.config.kernel_arguments.should_exist = {"debug"}; }, "kernelArguments of Ignition"},
      {[](MachineConfig& c) { c.config.storage.disks.push_back({.device = "/dev/vda"}); }, "storage.disks"},
      {[](MachineConfig& c) { c.config.storage.filesystems.push_back({.device = "/dev/vda"}); }, "storage.filesystems"},
      {[](MachineConfig& c) { c.config.storage.raid.push_back({.name = "md"}); }, "storage.raid"},
      {[](MachineConfig& c) { c.config.storage.luks.push_back({.name = "l"}); }, "storage.luks"},
      {[](MachineConfig& c) { c.config.storage.directories.push_back({.path = "/etc/d"}); }, "storage.directories"},
      {[](MachineConfig& c) { c.config.storage.links.push_back(ignition::make_link("/etc/new", "motd")); }, "/etc/new"},
      {[](MachineConfig& c) { c.config.storage.links[0].target = "other"; }, "/etc/old"},
      {[](MachineConfig& c) { c.fips = true; }, "fips"},
      {[](MachineConfig& c) { c.config.storage.files[0].contents.source = "http://a/b"; }, "data: URL"},
      {[](MachineConfig& c) { c.config.storage.files[0].contents.compression = "xz"; }, "compression 'xz'"},
      {[](MachineConfig& c) { c.config.storage.files[0].path = "/run/machine-config-daemon-force"; }, "daemon-force"},
  };
  for (const Case& c : cases) {
    const Result<> checked = check_reconcilable(start(), with(c.change));
    if (checked.ok()) {
      EXPECT_STREQ(c.reason, "");
      continue;
    }
    EXPECT_EQ(checked.error().code(), Code::invalid);
    EXPECT_STRNE(c.reason, "") << checked.error().message();
    EXPECT_NE(checked.error().message().find(c.reason), std::string::npos) << checked.error().message();
  }
}

TEST(UpdatePlan, WhatAMachineHadFromElsewhereMayStay) {
  const MachineConfig before = with([](MachineConfig& c) { c.config.storage.files[0].contents.source = "http://a/b"; });
  MachineConfig after = before;
  after.config.storage.files[1].mode = 0400;
  EXPECT_TRUE(check_reconcilable(before, after).ok());
}

TEST(UpdatePlan, TheImageOfExtensionsMattersToTheMachinesThatHaveAny) {
  struct Case {
    Change change;
    std::vector<std::string> wanted;
  };
  const std::vector<Case> cases = {
      {[](MachineConfig& c) {
         c.extensions = {"usbguard", "ipsec", "usbguard"};
       },
       {"ipsec", "usbguard"}},
      {[](MachineConfig& c) { c.kernel_type = "realtime"; }, {"kernel-rt"}},
      {[](MachineConfig&) {}, {}},
  };
  for (const Case& c : cases) {
    const MachineConfig before = with(c.change);
    MachineConfig after = before;
    after.extensions_image = "r/e@sha256:9";
    EXPECT_EQ(wanted_extensions(before), c.wanted);
    EXPECT_EQ(differences(before, after).extensions, !c.wanted.empty());
  }
  const MachineConfig one = with([](MachineConfig& c) { c.extensions = {"a", "b"}; });
  EXPECT_EQ(differences(one, with([](MachineConfig& c) {
                          c.extensions = {"b", "a"};
                        })),
            Differences{})
      << "the order is the same";
}

TEST(UpdatePlan, ImageArgumentsKernelAndExtensionsChange) {
  struct Case {
    Change change;
    const char* refusal;  // empty: none
  };
  const std::vector<Case> cases = {
      {[](MachineConfig& c) { c.os_image_url = "r/os@sha256:2"; }, ""},
      {[](MachineConfig& c) { c.kernel_arguments = {"debug"}; }, ""},
      {[](MachineConfig& c) { c.os_image_url = "r/os:2"; }, "osImageURL: r/os:2 has no digest"},
      {[](MachineConfig& c) { c.kernel_type = "realtime"; }, ""},
      {[](MachineConfig& c) { c.kernel_type = "64k-pages"; },
       "kernelType: 64k-pages: only kernels of arm64 have pages of 64 KiB (use default or realtime)"},
      {[](MachineConfig& c) { c.extensions = {"ipsec"}; }, ""},
      {[](MachineConfig& c) { c.config.storage.files.clear(); }, ""},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(check_reconcilable(start(), with(c.change)).ok());
    const Result<> checked = check_changeable(start(), with(c.change));
    EXPECT_EQ(checked.ok() ? "" : checked.error().message(), c.refusal);
  }
}

TEST(UpdatePlan, FilesOfUnitsAreFiles) {
  MachineConfig config = start();
  config.config.systemd.units.push_back({.name = "c.service", .mask = true, .contents = "[Service]\n"});
  config.config.systemd.units.push_back({.name = "d.service", .enabled = true, .contents = ""});
  config.config.systemd.units[1].dropins.push_back({.name = "20-empty.conf", .contents = ""});
  std::vector<std::string> paths;
  for (const WantedFile& file : wanted_files(config)) paths.push_back(file.path + (file.is_mask ? " -> /dev/null" : ""));
  EXPECT_EQ(paths, (std::vector<std::string>{"/etc/motd", "/etc/systemd/system/a.service",
                                             "/etc/systemd/system/b.service.d/10-more.conf",
                                             "/etc/systemd/system/c.service -> /dev/null", "/var/lib/kubelet/config.json"}));
}

TEST(UpdatePlan, CoreComesInByKeysAndPassword) {
  MachineConfig config = start();
  config.config.passwd.users[0].ssh_authorized_keys.push_back("ssh-ed25519 B b");
  config.config.passwd.users[0].password_hash = "$y$x";
  EXPECT_EQ(core_access(config), (CoreAccess{"ssh-ed25519 A a\nssh-ed25519 B b\n", "$y$x"}));
  EXPECT_EQ(core_access(MachineConfig{}), CoreAccess());
}

}  // namespace
}  // namespace slipway::machineconfig
