#include "provider/local/firmware_files.h"
#include "provider/local/name_server.h"
#include "provider/local/registry.h"

#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::provider::local {
namespace {

TEST(NameServer, KnowsOnlyTheCluster) {
  EXPECT_EQ(join(name_server_command("10.97.77.1", "demo", "/run/slipway/hosts",
                                     {{"api.demo", "10.97.77.5"}, {"*.apps.demo", "10.97.77.7"}}, ""),
                 " "),
            "dnsmasq --conf-file=/dev/null --keep-in-foreground --log-facility=- --user=root --pid-file= --bind-interfaces "
            "--listen-address=10.97.77.1 --no-resolv --no-hosts --local-ttl=1 --local=/demo/ --hostsdir=/run/slipway/hosts "
            "--host-record=api.demo,10.97.77.5 --address=/apps.demo/10.97.77.7");
  EXPECT_EQ(hosts_entry("10.97.77.10", "m0", "demo"), "10.97.77.10 m0.demo m0\n");
}

TEST(FirmwareFiles, NameTheMachine) {
  const std::vector<FirmwareFile> expected = {
      {"/etc/hostname", "m0\n"},
      {"/etc/machine-id", "uninitialized\n"},
      {"/etc/resolv.conf", "nameserver 10.97.77.1\nsearch demo\noptions timeout:1 attempts:5\n"},
      {"/etc/systemd/journald.conf.d/20-local.conf", "[Journal]\nReadKMsg=no\n"},
      {"/etc/systemd/system/systemd-sysctl.service.d/20-local.conf",
       "[Unit]\nAfter=slipway-container-mounts.service\nConditionPathIsReadWrite=\nConditionPathIsReadWrite=/proc/sys/net\n"
       "[Service]\nExecStart=\nExecStart=/usr/lib/systemd/systemd-sysctl --prefix=/net\n"},
      {"/etc/containerd/certs.d/registry.slipway.invalid/hosts.toml", hosts_toml("10.97.77.1")},
      {"/etc/systemd/system/console-getty.service", ""},
      {"/etc/systemd/system/dbus.service", ""},
      {"/etc/systemd/system/dbus.socket", ""},
      {"/etc/systemd/system/systemd-logind.service", ""},
      {"/etc/systemd/system/systemd-networkd.service", ""},
      {"/etc/systemd/system/systemd-networkd.socket", ""}};
  ClusterConfig config;
  config.domain = "demo";
  config.network = parse_network("10.97.77.0/24").value();
  EXPECT_EQ(firmware_files("m0", config, ""), expected);
  config.has_own_images = true;
  EXPECT_EQ(firmware_files("m0", config, "").size(), expected.size() + 1);
  config.os_registry = "registry.demo:5443";
  const std::vector<FirmwareFile> files = firmware_files("m0", config, "PEM");
  const std::string folder = "/etc/containerd/certs.d/registry.demo:5443";
  EXPECT_EQ(std::ranges::count(files, FirmwareFile{folder + "/hosts.toml", os_hosts_toml("10.97.77.1", config.os_registry)}), 1);
  EXPECT_EQ(std::ranges::count(files, FirmwareFile{folder + "/ca.crt", "PEM"}), 1);
}

}  // namespace
}  // namespace slipway::provider::local
