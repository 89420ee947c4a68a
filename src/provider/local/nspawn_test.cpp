#include "provider/local/nspawn.h"

#include "base/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::provider::local {
namespace {

TEST(Nspawn, CommandOfAMachine) {
  const std::string commit(64, 'c');
  const NspawnInput input{.name = "m0",
                          .uuid = "0123",
                          .sysroot = "/run/slipway/disks/m0",
                          .deployment = {"/ostree/deploy/slipway/deploy/" + commit + ".1", commit, 1},
                          .mount_point = "/run/slipway/m0",
                          .network_namespace = "/run/netns/m0",
                          .booted_marker = "/run/slipway/booted",
                          .kernel_arguments = "/run/slipway/arguments",
                          .cgroups = {"/sys/fs/cgroup/cpu/slipway/id/m0", "/sys/fs/cgroup/memory/slipway/id/m0"},
                          .devices = {"/dev/fuse"}};
  std::vector<std::string> command = nspawn_command(input);
  const auto script = std::find(command.begin(), command.end(), "-c") + 1;
  ASSERT_NE(script, command.end());
  *script = "SCRIPT";
  const std::string deployment = "/ostree/deploy/slipway/deploy/" + commit + ".1";
  const std::vector<std::string> expected = {"unshare",
                                             "--mount",
                                             "--propagation=private",
                                             "--",
                                             "/bin/sh",
                                             "-c",
                                             "SCRIPT",
                                             "machine",
                                             "/run/slipway/disks/m0",
                                             "/run/slipway/m0",
                                             "/sys/fs/cgroup/cpu/slipway/id/m0",
                                             "/sys/fs/cgroup/memory/slipway/id/m0",
                                             "--",
                                             "systemd-nspawn",
                                             "--register=no",
                                             "--keep-unit",
                                             "--quiet",
                                             "--directory=/run/slipway/m0",
                                             "--pivot-root=" + deployment + ":/sysroot",
                                             "--machine=m0",
                                             "--uuid=0123",
                                             "--network-namespace-path=/run/netns/m0",
                                             "--capability=all",
                                             "--system-call-filter=@mount @keyring bpf",
                                             "--bind=/run/slipway/disks/m0" + deployment + "/etc:/etc",
                                             "--bind=/run/slipway/disks/m0/ostree/deploy/slipway/var:/var",
                                             "--bind-ro=/run/slipway/disks/m0/boot:/boot",
                                             "--bind-ro=/run/slipway/booted:/run/ostree-booted",
                                             "--bind-ro=/run/slipway/arguments:/run/kernel-arguments",
                                             "--bind-ro=/run/kernel-arguments:/proc/cmdline",
                                             "--resolv-conf=off",
                                             "--timezone=off",
                                             "--link-journal=no",
                                             "--console=read-only",
                                             "--notify-ready=yes",
                                             "--bind=/dev/fuse",
                                             "--boot"};
  EXPECT_EQ(join(command, "\n"), join(expected, "\n"));
}

TEST(Nspawn, TellsThatTheMachineLives) {
  EXPECT_EQ(parse_notification("STATUS=Container running.\nX_NSPAWN_LEADER_PID=72"), (Notification{72, false}));
  EXPECT_EQ(parse_notification("READY=1\n"), (Notification{std::nullopt, true}));
  EXPECT_EQ(parse_notification("STATUS=READY=1\nX_NSPAWN_LEADER_PID=x"), Notification{});
}

}  // namespace
}  // namespace slipway::provider::local
