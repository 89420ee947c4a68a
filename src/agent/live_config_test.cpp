#include "agent/live_config.h"

#include "ignition/data_url.h"
#include "ignition/make.h"
#include "machineconfig/update_plan.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

ignition::Config config() {
  ignition::Config made{.ignition = {.version = ignition::Version::v3_2}};
  ignition::File plain = ignition::make_file("/opt/openshift/tls/a.key", "key", 0600);
  plain.user.name = "root";
  ignition::put(made, std::move(plain));
  made.storage.files.push_back({.path = "/etc/motd",
                                .overwrite = false,
                                .mode = 0644,
                                .user = {.name = "root"},
                                .append = {{.source = "data:,of%20the%20bootstrap%0A"}, {.source = "data:,more%0A"}}});
  made.storage.directories.push_back({.path = "/opt/openshift/auth", .mode = 0700});
  ignition::put(made, ignition::make_unit("kubelet.service", "[Service]\n", true));
  made.passwd.users.push_back({.name = "core", .ssh_authorized_keys = {"ssh-ed25519 A"}});
  return made;
}

std::string content_of(const machineconfig::MachineConfig& live, const std::string& path) {
  for (const machineconfig::WantedFile& file : machineconfig::wanted_files(live)) {
    if (file.path == path) return ignition::decode_data_url(file.contents.source.value_or("data:,")).value();
  }
  return "no such file";
}

TEST(LiveConfig, AppendedFilesAreWhole) {
  EXPECT_EQ(appended_paths(config()), (std::vector<std::string>{"/etc/motd"}));
  const auto live = live_config(config(), {{"/etc/motd", "of the live system\n"}});
  ASSERT_TRUE(live.ok()) << live.error().message();
  EXPECT_EQ(content_of(live.value(), "/etc/motd"), "of the live system\nof the bootstrap\nmore\n");
  EXPECT_EQ(content_of(live_config(config(), {}).value(), "/etc/motd"), "of the bootstrap\nmore\n");
}

TEST(LiveConfig, KeepsFilesUnitsAndKeys) {
  const machineconfig::MachineConfig live = live_config(config(), {}).value();
  EXPECT_EQ(content_of(live, "/opt/openshift/tls/a.key"), "key");
  EXPECT_EQ(content_of(live, "/etc/systemd/system/kubelet.service"), "[Service]\n");
  EXPECT_EQ(machineconfig::core_access(live).keys, "ssh-ed25519 A\n");
  // It can be stored and read again, which continues after a kill.
  EXPECT_EQ(machineconfig::parse_machine_config(machineconfig::to_json(live), "live").value(), live);
}

TEST(LiveConfig, RefusesWhatOnlyAFirstBootApplies) {
  ignition::Config made = config();
  made.ignition.config.merge.push_back({.source = "https://example.com/a.ign"});
  made.kernel_arguments.should_exist = {"a=b"};
  made.storage.disks.push_back({.device = "/dev/sda"});
  made.storage.raid.push_back({.name = "r"});
  made.storage.luks.push_back({.name = "l"});
  made.storage.filesystems.push_back({.device = "/dev/sda1"});
  made.storage.links.push_back({.path = "/etc/link", .target = "/etc/motd"});
  made.passwd.groups.push_back({.name = "g"});
  made.passwd.users.push_back({.name = "other"});
  made.storage.files.push_back({.path = "/etc/fetched", .contents = {.source = "https://example.com/file"}});
  const Error why = live_config(made, {}).error();
  EXPECT_EQ(why.code(), Code::invalid);
  for (const char* part : {"ignition.config:", "kernelArguments:", "storage.disks:", "storage.raid:", "storage.luks:",
                           "storage.filesystems:", "storage.links:", "passwd.groups:", "passwd.users:",
                           "storage.files[2] (/etc/fetched): its content is not in the config"}) {
    EXPECT_NE(why.message().find(part), std::string::npos) << part << "\n" << why.message();
  }
}

}  // namespace
}  // namespace slipway::agent
