#include "provider/local/shell.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Shell, EntersAllNamespacesWithAPlainEnvironment) {
  EXPECT_EQ(join(enter_command("/proc/7/root/proc/8", {"TERM=xterm"}, {"systemctl", "poweroff"}), " "),
            "nsenter --mount=/proc/7/root/proc/8/ns/mnt --uts=/proc/7/root/proc/8/ns/uts --ipc=/proc/7/root/proc/8/ns/ipc "
            "--net=/proc/7/root/proc/8/ns/net --pid=/proc/7/root/proc/8/ns/pid --cgroup=/proc/7/root/proc/8/ns/cgroup "
            "--root=/proc/7/root/proc/8/root --wd=/proc/7/root/proc/8/root -- /usr/bin/env -i "
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm systemctl poweroff");
}

}  // namespace
}  // namespace slipway::provider::local
