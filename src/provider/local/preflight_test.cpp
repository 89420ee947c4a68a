#include "provider/local/preflight.h"

#include "provider/local/client.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

Facts good_host() {
  return {.is_root = true,
          .missing_programs = {},
          .has_cgroups = true,
          .has_overlay = true,
          .has_nftables = true,
          .has_br_netfilter = true,
          .inotify_instances_limit = 128,
          .inotify_instances_used = 2,
          .state_folder = "/var/lib/slipway/local",
          .state_filesystem = "ext4",
          .state_free_bytes = 50'000'000'000,
          .os_repo = "/srv/repo",
          .os_repo_exists = true,
          .os_repo_on_same_filesystem = true,
          .available_memory_bytes = 16'000'000'000};
}

TEST(Preflight, AGoodHostHasNoFindings) { EXPECT_EQ(check(good_host(), {4, 88}).to_text(), ""); }

TEST(Preflight, EachFactHasItsFinding) {
  const struct {
    std::string name;
    void (*change)(Facts&);
    std::string expected;
  } rows[] = {
      {"root", [](Facts& f) { f.is_root = false; },
       "error: host: local machines require root, because they use mounts, namespaces and cgroups (run it with sudo)\n"},
      {"program", [](Facts& f) { f.missing_programs = {"dnsmasq"}; },
       "error: host: program dnsmasq: not found (apt-get install dnsmasq-base)\n"},
      {"cgroups", [](Facts& f) { f.has_cgroups = false; },
       "error: host: cgroups are not mounted (mount them at /sys/fs/cgroup)\n"},
      {"overlay", [](Facts& f) { f.has_overlay = false; },
       "error: host: the kernel has no overlay file system, which containers require (modprobe overlay)\n"},
      {"nftables", [](Facts& f) { f.has_nftables = false; },
       "error: host: the kernel has no nftables, which kube-proxy requires (modprobe nf_tables)\n"},
      {"br_netfilter", [](Facts& f) { f.has_br_netfilter = false; },
       "error: host: the kernel does not filter bridged packets, so Services would not work between pods on the same machine "
       "(modprobe "
       "br_netfilter)\n"},
      {"inotify", [](Facts& f) { f.inotify_instances_used = 100; },
       "warning: host: 28 of 128 inotify instances are free, 4 machines with pods need about 88 (sysctl "
       "fs.inotify.max_user_instances=1024)\n"},
      {"file system", [](Facts& f) { f.state_filesystem = "tmpfs"; },
       "error: host: the state folder /var/lib/slipway/local is on tmpfs, but local machines require ext4, xfs, btrfs (choose "
       "another "
       "folder "
       "with --state or SLIPWAY_STATE)\n"},
      {"no repository", [](Facts& f) { f.os_repo_exists = false; },
       "error: host: /srv/repo is not an OSTree repository of the machine OS (import a release with `slipway release import "
       "FILE`, build one with `make payload`, or choose another one with --os-repo)\n"},
      {"two file systems", [](Facts& f) { f.os_repo_on_same_filesystem = false; },
       "error: host: the state folder /var/lib/slipway/local and the repository /srv/repo must be on the same file system, "
       "because the machine OS of a cluster consists of hard links (choose another folder with --state or SLIPWAY_STATE)\n"},
      {"disk", [](Facts& f) { f.state_free_bytes = 3'000'000'000; },
       "error: host: the state folder /var/lib/slipway/local has 3.0 GB free, but 4 machines need 4.0 GB (free disk space, or "
       "choose another disk with "
       "--state or SLIPWAY_STATE)\n"},
      {"memory", [](Facts& f) { f.available_memory_bytes = 2'000'000'000; },
       "warning: host: 2.0 GB of memory are available, but 4 machines with a control plane need about 2.4 GB (create fewer "
       "machines, or stop other programs)\n"},
  };
  for (const auto& row : rows) {
    Facts facts = good_host();
    row.change(facts);
    EXPECT_EQ(check(facts, {4, 88}).to_text(), row.expected) << row.name;
  }
}

TEST(Preflight, WithoutRootOtherFindingsMayBeWrong) {
  const Facts facts{.is_root = false, .missing_programs = {"dnsmasq", "chroot"}, .inotify_instances_limit = 128};
  EXPECT_EQ(check(facts, {4, 500, true}).to_text(),
            "error: host: local machines require root, because they use mounts, namespaces and cgroups (run it with sudo)\n");
}

TEST(Preflight, RefusesAClusterThatCouldNotRunItsContainers) {
  Facts facts = good_host();
  facts.inotify_instances_used = 40;
  const struct {
    Load load;
    std::string expected;
  } rows[] = {
      {{4, 88, true}, ""},
      {{4, 89, true},
       "error: host: 88 of 128 inotify instances are free, this cluster needs 89: with fewer, no containers start on some of its "
       "machines (sysctl fs.inotify.max_user_instances=1024)\n"},
      {{4, 89, false},
       "warning: host: 88 of 128 inotify instances are free, 4 machines with pods need about 89 (sysctl "
       "fs.inotify.max_user_instances=1024)\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(check(facts, row.load).to_text(), row.expected);
}

TEST(PeakOfInotify, CountsWhatRunsAtTheSameTime) {
  const MachineGroup bootstrap{.names = {"bootstrap"}}, masters{.names = {"m0", "m1", "m2"}};
  MachineGroup workers{.names = {"w0", "w1"}, .has_control_plane = false};
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use), 4 * 28 + 2 * 13);
  workers.after = "bootstrap";
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use), 4 * 28);
  workers.names = {"w0", "w1", "w2"};
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use), 3 * 28 + 3 * 13);
  EXPECT_EQ(peak_of_inotify({}, inotify_use), 0);
}

TEST(PeakOfInotify, DoesNotCountTwiceWhatIsOn) {
  const MachineGroup bootstrap{.names = {"bootstrap"}}, masters{.names = {"m0", "m1", "m2"}};
  MachineGroup workers{.names = {"w0", "w1"}, .has_control_plane = false};
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use, {"bootstrap", "m0", "m1"}), 28 + 2 * 13);
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use, {"bootstrap", "m0", "m1", "m2", "w0", "w1"}), 0);
  workers.after = "bootstrap";
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use, {"bootstrap", "m0", "m1", "m2"}), 0);
  workers.names = {"w0", "w1", "w2"};
  EXPECT_EQ(peak_of_inotify({bootstrap, masters, workers}, inotify_use, {"bootstrap", "m0", "m1", "m2"}), 3 * 13 - 28);
}

TEST(Preflight, TellsEverythingAtOnce) {
  const Findings all =
      check(Facts{.is_root = true, .missing_programs = {"dnsmasq", "ostree"}, .state_folder = "/s", .os_repo = "/r"}, {1, 26});
  EXPECT_EQ(all.all().size(), 8u) << all.to_text();
  EXPECT_TRUE(all.has_errors());
}

TEST(Preflight, NamespacesHaveTheirBridgeSettingsSinceLinux53) {
  for (const char* release : {"5.3.0", "5.10.0-8-amd64", "6.1.0-56-cloud-amd64", "10.0"}) {
    EXPECT_TRUE(has_bridge_settings_of_namespaces(release)) << release;
  }
  for (const char* release : {"5.2.21", "4.19.0-27-amd64", "5", "", "unknown"}) {
    EXPECT_FALSE(has_bridge_settings_of_namespaces(release)) << release;
  }
}

TEST(Preflight, LooksAtThisHost) {
  sys::RealFiles files;
  const Facts facts = gather_facts(files, "/var/lib/not-there-yet/local", "/not-there");
  EXPECT_TRUE(facts.available_memory_bytes);
  EXPECT_TRUE(facts.state_free_bytes);
  EXPECT_FALSE(facts.state_filesystem.empty());
  EXPECT_FALSE(facts.os_repo_exists);
}

}  // namespace
}  // namespace slipway::provider::local
