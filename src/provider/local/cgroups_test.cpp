#include "provider/local/cgroups.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Cgroups, Version1AndHybrid) {
  const std::string mounts =
      "proc /proc proc rw 0 0\n"
      "tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0\n"
      "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0\n"
      "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n"
      "cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0\n"
      "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";
  const std::vector<Hierarchy> expected = {{"/sys/fs/cgroup/cpu,cpuacct", false, {"cpu", "cpuacct"}},
                                           {"/sys/fs/cgroup/cpuset", false, {"cpuset"}},
                                           {"/sys/fs/cgroup/systemd", false, {"name=systemd"}},
                                           {"/sys/fs/cgroup/unified", true, {}}};
  EXPECT_EQ(hierarchies(mounts), expected);
  EXPECT_EQ(cgroup_folders({expected[1], expected[3]}, "0123", "m0"),
            (std::vector<std::string>{"/sys/fs/cgroup/cpuset/slipway/0123/m0", "/sys/fs/cgroup/unified/slipway/0123/m0"}));
  EXPECT_EQ(cgroup_folders({expected[1]}, "0123"), std::vector<std::string>{"/sys/fs/cgroup/cpuset/slipway/0123"});
}

TEST(Cgroups, Version2IsOneHierarchy) {
  EXPECT_EQ(hierarchies("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nsdelegate 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
            (std::vector<Hierarchy>{{"/sys/fs/cgroup", true, {}}}));
  EXPECT_TRUE(hierarchies("").empty());
}

TEST(Cgroups, NamespacePids) {
  EXPECT_EQ(namespace_pids("Name:\tsystemd\nNSpid:\t4711\t72\t1\nNSpgid:\t1\n"), (std::vector<int>{4711, 72, 1}));
  EXPECT_TRUE(namespace_pids("Name:\tkthreadd\n").empty());
}

}  // namespace
}  // namespace slipway::provider::local
