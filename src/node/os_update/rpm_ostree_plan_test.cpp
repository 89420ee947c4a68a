#include "node/os_update/rpm_ostree_plan.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using machineconfig::MachineConfig;

const std::string one = "sha256:" + std::string(64, '1'), two = "sha256:" + std::string(64, '2');

MachineConfig config(const std::string& digest, std::vector<std::string> extensions = {}, std::string kernel = "",
                     std::vector<std::string> arguments = {}) {
  MachineConfig made{.name = "rendered-1", .os_image_url = digest.empty() ? "" : "r.example/os@" + digest};
  made.extensions = std::move(extensions);
  made.kernel_type = std::move(kernel);
  made.kernel_arguments = std::move(arguments);
  return made;
}

const std::vector<std::string> realtime = {"kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra"};
const std::vector<std::string> removed = {"kernel", "kernel-core", "kernel-modules", "kernel-modules-core",
                                          "kernel-modules-extra"};

HostDeployment booted(std::vector<std::string> packages = {}, std::vector<std::string> removals = {}) {
  return {.deployment = {.os = "rhcos", .commit = std::string(64, 'a'), .serial = "0", .booted = true},
          .image_digest = one,
          .packages = std::move(packages),
          .base_removals = std::move(removals)};
}

TEST(RpmOstreePlan, HasOneCommandForEachKindOfChange) {
  struct Case {
    const char* what;
    MachineConfig from, to;
    HostDeployment booted;
    std::vector<std::string> commands;
  };
  const std::string rebase = "rpm-ostree rebase --experimental ostree-unverified-image:containers-storage:r.example/os@" + two;
  const std::string remove_kernel =
      "rpm-ostree override remove kernel kernel-core kernel-modules kernel-modules-core "
      "kernel-modules-extra --install=kernel-rt-core --install=kernel-rt-modules "
      "--install=kernel-rt-modules-extra";
  const std::string reset_kernel =
      "rpm-ostree override reset kernel kernel-core kernel-modules kernel-modules-core "
      "kernel-modules-extra --uninstall=kernel-rt-core --uninstall=kernel-rt-modules "
      "--uninstall=kernel-rt-modules-extra";
  const std::vector<Case> cases = {
      {"nothing", config(one), config(one), booted(), {}},
      {"the image of the machine", config(one), config(""), booted(), {}},
      {"image", config(one), config(two), booted(), {rebase}},
      {"arguments",
       config(one, {}, "", {"a", "b c"}),
       config(one, {}, "", {"b", "d"}),
       booted(),
       {"rpm-ostree kargs --delete-if-present=a --delete-if-present=c --append=d"}},
      {"extension",
       config(one),
       config(one, {"usbguard"}),
       booted(),
       {"rpm-ostree install --idempotent --allow-inactive usbguard"}},
      {"extension that a person has added", config(one), config(one, {"usbguard"}), booted({"usbguard"}), {}},
      {"no extension", config(one, {"usbguard"}), config(one), booted({"strace", "usbguard"}), {"rpm-ostree uninstall usbguard"}},
      {"two extensions share a package",
       config(one, {"kerberos", "sysstat"}),
       config(one, {"kerberos"}),
       booted({"krb5-workstation", "libkadm5", "sysstat"}),
       {"rpm-ostree uninstall sysstat"}},
      {"image and another extension",
       config(one, {"usbguard"}),
       config(two, {"sysstat"}),
       booted({"usbguard"}),
       {rebase + " --uninstall=usbguard", "rpm-ostree install --idempotent --allow-inactive sysstat"}},
      {"real-time kernel", config(one), config(one, {}, "realtime"), booted(), {remove_kernel}},
      {"image with the real-time kernel",
       config(one, {}, "realtime"),
       config(two, {}, "realtime"),
       booted(realtime, removed),
       {rebase}},
      {"default kernel", config(one, {}, "realtime"), config(one, {}, "default"), booted(realtime, removed), {reset_kernel}},
      {"default kernel and another image",
       config(one, {}, "realtime"),
       config(two),
       booted(realtime, removed),
       {reset_kernel, rebase}},
      {"everything",
       config(one),
       config(two, {"usbguard"}, "realtime", {"a"}),
       booted(),
       {rebase, "rpm-ostree install --idempotent --allow-inactive usbguard", remove_kernel, "rpm-ostree kargs --append=a"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto commands = rpm_ostree_commands(c.from, c.to, c.booted);
    ASSERT_TRUE(commands.ok()) << commands.error().message();
    std::vector<std::string> lines;
    for (const std::vector<std::string>& each : commands.value()) lines.push_back(join(each, " "));
    EXPECT_EQ(lines, c.commands);
  }
}

TEST(RpmOstreePlan, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(rpm_ostree_commands(config(one), config(one, {"usbguard", "nano", "vim"}), booted()).error().message(),
            "extensions: nano, vim: unknown on machines with rpm-ostree; known are ipsec, kerberos, kernel-devel, kernel-rt, "
            "sandboxed-containers, sysstat, two-node-ha, usbguard");
  EXPECT_EQ(rpm_ostree_commands(config(one), config(one, {}, "64k-pages"), booted()).error().message(),
            "kernelType: 64k-pages: only kernels of arm64 have pages of 64 KiB (use default or realtime)");
}

TEST(RpmOstreePlan, AnotherOrderOfArgumentsIsAChange) {
  EXPECT_EQ(argument_options({"a", "b"}, {"b a"}),
            (std::vector<std::string>{"--delete-if-present=a", "--delete-if-present=b", "--append=b", "--append=a"}));
  EXPECT_TRUE(argument_options({"a b"}, {"a", "b"}).empty());
}

TEST(RpmOstreePlan, RepositoriesAreEnabledUnlessTheirFileSaysOtherwise) {
  EXPECT_EQ(enabled_repositories("# enabled=0\n[main]\nenabled=1\n[fedora]\nname=x\nenabled = 1\n[updates]\nname=x\n"
                                 "[testing]\nenabled=0\n[debug]\nenabled=False\nenabled=1\n"),
            (std::vector<std::string>{"fedora", "updates"}));
  EXPECT_TRUE(enabled_repositories("").empty());
}

TEST(RpmOstreePlan, PackagesAreFoundByTheNamesOfTheirFiles) {
  const std::vector<std::string> files = {"repodata", "kernel-rt-core-5.14.0-570.28.1.el9_6.x86_64.rpm",
                                          "libkadm5-1.21.1-6.el9.x86_64.rpm", "usbguard-1.0.0-15.el9.x86_64.drpm"};
  EXPECT_EQ(missing_packages({"kernel-rt-core", "kernel-rt", "libkadm5", "usbguard"}, files),
            (std::vector<std::string>{"kernel-rt", "usbguard"}));
}

}  // namespace
}  // namespace slipway::node
