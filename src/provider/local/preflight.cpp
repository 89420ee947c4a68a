#include "provider/local/preflight.h"

#include "base/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace slipway::provider::local {

namespace {

// A machine with a control plane, as measured (local-machines 5 and 6.4), rounded up.
constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t memory_of_a_machine = 600 * megabyte;
constexpr std::uint64_t disk_of_a_machine = 1'000 * megabyte;

// The machine OS is shared with the repository by hard links, inodes can be immutable, and layers of disks and of containers lie
// on it.
constexpr std::array fit_filesystems = {std::string_view("ext4"), std::string_view("xfs"), std::string_view("btrfs")};

constexpr std::array programs = {
    NeededProgram{"unshare", "util-linux"}, NeededProgram{"nsenter", "util-linux"},
    NeededProgram{"mount", "mount"},        NeededProgram{"systemd-nspawn", "systemd-container"},
    NeededProgram{"ostree", "ostree"},      NeededProgram{"dnsmasq", "dnsmasq-base"},
    NeededProgram{"ip", "iproute2"},        NeededProgram{"chroot", "coreutils"},
};

std::string_view package_of(std::string_view program) {
  for (const NeededProgram& needed : programs) {
    if (needed.name == program) return needed.package;
  }
  return program;
}

}  // namespace

std::vector<NeededProgram> needed_programs() { return {programs.begin(), programs.end()}; }

Findings check(const Facts& facts, const Load& load) {
  const int machines = load.machines;
  Findings found;
  if (!facts.is_root)
    found.error({}, "host", "local machines need root: they are made of mounts, namespaces and cgroups").hint("run it with sudo");
  for (const std::string& program : facts.missing_programs) {
    found.error({}, "host", "the program {} is missing", program).hint(fmt::format("apt-get install {}", package_of(program)));
  }
  if (!facts.has_cgroups)
    found.error({}, "host", "no cgroups are mounted").hint("mount them at /sys/fs/cgroup, as every distribution's init does");
  if (!facts.has_overlay)
    found.error({}, "host", "the kernel has no overlay file system, which containers need").hint("modprobe overlay");
  if (!facts.has_nftables)
    found.error({}, "host", "the kernel has no nftables, which kube-proxy needs").hint("modprobe nf_tables");
  if (!facts.has_br_netfilter) {
    found.error({}, "host", "the kernel does not filter bridged packets, so Services would not work between pods of a machine")
        .hint("modprobe br_netfilter");
  }
  if (facts.inotify_instances_limit) {
    const int needed = load.inotify_instances;
    const int left = *facts.inotify_instances_limit - facts.inotify_instances_used;
    if (left < needed) {
      const std::string said =
          fmt::format("{} of {} inotify instances are free, ", std::max(left, 0), *facts.inotify_instances_limit);
      Findings::Added finding =
          load.is_cluster
              ? found.error({}, "host", "{}this cluster needs {} more: without them no containers start in some of its machines",
                            said, needed)
              : found.warning({}, "host", "{}{} machines with pods need about {}", said, machines, needed);
      finding.hint("sysctl fs.inotify.max_user_instances=1024");
    }
  }
  const std::string state = "the state folder " + facts.state_folder;
  if (std::find(fit_filesystems.begin(), fit_filesystems.end(), facts.state_filesystem) == fit_filesystems.end()) {
    found
        .error({}, "host", "{} lies on {}, local machines need {}", state,
               facts.state_filesystem.empty() ? "an unknown file system" : facts.state_filesystem,
               fmt::join(fit_filesystems, ", "))
        .hint("choose another folder with --state or SLIPWAY_STATE");
  }
  if (!facts.os_repo_exists) {
    found.error({}, "host", "{} is no OSTree repository of the machine OS", facts.os_repo)
        .hint("build it with make, or name another with --os-repo");
  } else if (!facts.os_repo_on_same_filesystem) {
    found
        .error({}, "host",
               "{} and the repository {} must lie on one file system, since the machine OS of a cluster is hard links into it",
               state, facts.os_repo)
        .hint("choose another folder with --state or SLIPWAY_STATE");
  }
  const std::uint64_t disk = static_cast<std::uint64_t>(machines) * disk_of_a_machine;
  if (facts.state_free_bytes && *facts.state_free_bytes < disk) {
    found
        .error({}, "host", "{} has {} free, {} machines need {}", state, human_size(*facts.state_free_bytes), machines,
               human_size(disk))
        .hint("free some, or choose another disk with --state or SLIPWAY_STATE");
  }
  const std::uint64_t memory = static_cast<std::uint64_t>(machines) * memory_of_a_machine;
  if (facts.available_memory_bytes && *facts.available_memory_bytes < memory) {
    found
        .warning({}, "host", "{} of memory are available, {} machines with a control plane need about {}",
                 human_size(*facts.available_memory_bytes), machines, human_size(memory))
        .hint("make fewer machines, or end other programs");
  }
  return found;
}

}  // namespace slipway::provider::local
