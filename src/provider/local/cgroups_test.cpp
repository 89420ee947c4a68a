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

TEST(Cgroups, ACommandJoinsThemBeforeItBegins) {
  EXPECT_EQ(in_cgroups({"/a", "/b"}, {"true", "--", "x"}),
            (std::vector<std::string>{
                "/bin/sh", "-c", R"(while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit; shift; done; shift; exec "$@")",
                "in-cgroups", "/a", "/b", "--", "true", "--", "x"}));
}

TEST(Cgroups, BesideAnInit) {
  const std::vector<Hierarchy> version_1 = {{"/c/cpu,cpuacct", false, {"cpu", "cpuacct"}},
                                            {"/c/systemd", false, {"name=systemd"}}};
  EXPECT_EQ(cgroups_beside(version_1, "3:pids:/x\n2:cpu,cpuacct:/slipway/1/m0\n1:name=systemd:/slipway/1/m0/init.scope\n"),
            (std::vector<std::string>{"/c/cpu,cpuacct/slipway/1/m0", "/c/systemd/slipway/1/m0/init.scope"}));
  EXPECT_EQ(cgroups_beside({{"/c", true, {}}}, "0::/slipway/1/m0/payload/init.scope\n"),
            std::vector<std::string>{"/c/slipway/1/m0/payload/slipway-shell"});
  EXPECT_TRUE(cgroups_beside(version_1, "no cgroups").empty());
}

TEST(Cgroups, NamespacePids) {
  EXPECT_EQ(namespace_pids("Name:\tsystemd\nNSpid:\t4711\t72\t1\nNSpgid:\t1\n"), (std::vector<int>{4711, 72, 1}));
  EXPECT_TRUE(namespace_pids("Name:\tkthreadd\n").empty());
}

TEST(Cgroups, OnlyMissingControllersThatMachinesUseAreEnabled) {
  using Names = std::vector<std::string>;
  const std::string available = "cpuset cpu io memory hugetlb pids rdma misc\n";
  EXPECT_EQ(controllers_to_enable(available, "memory pids\n"), (Names{"cpuset", "cpu", "io", "hugetlb"}));
  EXPECT_EQ(controllers_to_enable(available, "cpuset cpu io memory hugetlb pids\n"), Names{});
  EXPECT_EQ(controllers_to_enable("memory pids\n", "\n"), (Names{"memory", "pids"}));
  EXPECT_EQ(controllers_to_enable("\n", "\n"), Names{});  // version 2 of the hybrid hierarchy
}

}  // namespace
}  // namespace slipway::provider::local
