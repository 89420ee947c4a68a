#include "provider/local/preflight.h"

#include "base/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace slipway::provider::local {

namespace {

// Memory and disk space of a machine with a control plane, measured and rounded up.
constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t memory_of_a_machine = 600 * megabyte;
constexpr std::uint64_t disk_of_a_machine = 1'000 * megabyte;

// File systems that support hard links to the machine OS repository, immutable inodes, and overlayfs layers of disks and
// containers.
constexpr std::array fit_filesystems = {std::string_view("ext4"), std::string_view("xfs"), std::string_view("btrfs")};

constexpr std::array programs = {
    sys::NeededProgram{"unshare", "util-linux"}, sys::NeededProgram{"nsenter", "util-linux"},
    sys::NeededProgram{"mount", "mount"},        sys::NeededProgram{"systemd-nspawn", "systemd-container"},
    sys::NeededProgram{"ostree", "ostree"},      sys::NeededProgram{"dnsmasq", "dnsmasq-base"},
    sys::NeededProgram{"ip", "iproute2"},        sys::NeededProgram{"chroot", "coreutils"},
};

std::string_view package_of(std::string_view program) {
  for (const sys::NeededProgram& needed : programs) {
    if (needed.name == program) return needed.package;
  }
  return program;
}

void check_kernel(Findings& found, const Facts& facts) {
  if (!facts.has_cgroups) found.error({}, "host", "cgroups are not mounted").hint("mount them at /sys/fs/cgroup");
  if (!facts.has_overlay)
    found.error({}, "host", "the kernel has no overlay file system, which containers require").hint("modprobe overlay");
  if (!facts.has_nftables)
    found.error({}, "host", "the kernel has no nftables, which kube-proxy requires").hint("modprobe nf_tables");
  if (!facts.has_br_netfilter) {
    found
        .error({}, "host",
               "the kernel does not filter bridged packets, so Services would not work between pods on the same machine")
        .hint("modprobe br_netfilter");
  }
}

void check_inotify(Findings& found, const Facts& facts, const Load& load) {
  if (!facts.inotify_instances_limit) return;
  const int needed = load.inotify_instances;
  const int left = *facts.inotify_instances_limit - facts.inotify_instances_used;
  if (left >= needed) return;
  const std::string available =
      fmt::format("{} of {} inotify instances are free, ", std::max(left, 0), *facts.inotify_instances_limit);
  Findings::Added finding =
      load.is_cluster
          ? found.error({}, "host", "{}this cluster needs {}: with fewer, no containers start on some of its machines", available,
                        needed)
          : found.warning({}, "host", "{}{} machines with pods need about {}", available, load.machines, needed);
  finding.hint("sysctl fs.inotify.max_user_instances=1024");
}

// state: the state folder, as it is called in messages.
void check_file_systems(Findings& found, const Facts& facts, const std::string& state) {
  if (std::find(fit_filesystems.begin(), fit_filesystems.end(), facts.state_filesystem) == fit_filesystems.end()) {
    found
        .error({}, "host", "{} is on {}, but local machines require {}", state,
               facts.state_filesystem.empty() ? "an unknown file system" : facts.state_filesystem,
               fmt::join(fit_filesystems, ", "))
        .hint("choose another folder with --state or SLIPWAY_STATE");
  }
  if (!facts.needs_os_repo) return;
  if (!facts.os_repo_exists) {
    found.error({}, "host", "{} is not an OSTree repository of the machine OS", facts.os_repo)
        .hint(
            "import a release with `slipway release import FILE`, build one with `make payload`, or choose another one with "
            "--os-repo");
  } else if (!facts.os_repo_on_same_filesystem) {
    found
        .error({}, "host",
               "{} and the repository {} must be on the same file system, because the machine OS of a cluster consists of hard "
               "links",
               state, facts.os_repo)
        .hint("choose another folder with --state or SLIPWAY_STATE");
  }
}

void check_capacity(Findings& found, const Facts& facts, const std::string& state, int machines) {
  const std::uint64_t disk = static_cast<std::uint64_t>(machines) * disk_of_a_machine;
  if (facts.state_free_bytes && *facts.state_free_bytes < disk) {
    found
        .error({}, "host", "{} has {} free, but {} machines need {}", state, human_size(*facts.state_free_bytes), machines,
               human_size(disk))
        .hint("free disk space, or choose another disk with --state or SLIPWAY_STATE");
  }
  const std::uint64_t memory = static_cast<std::uint64_t>(machines) * memory_of_a_machine;
  if (facts.available_memory_bytes && *facts.available_memory_bytes < memory) {
    found
        .warning({}, "host", "{} of memory are available, but {} machines with a control plane need about {}",
                 human_size(*facts.available_memory_bytes), machines, human_size(memory))
        .hint("create fewer machines, or stop other programs");
  }
}

}  // namespace

std::vector<sys::NeededProgram> needed_programs() { return {programs.begin(), programs.end()}; }

Findings check(const Facts& facts, const Load& load) {
  Findings found;
  if (!facts.is_root) {
    found.error({}, "host", "local machines require root, because they use mounts, namespaces and cgroups")
        .hint("run it with sudo");
    return found;
  }
  for (const std::string& program : facts.missing_programs) {
    found.error({}, "host", "program {}: not found", program).hint(fmt::format("apt-get install {}", package_of(program)));
  }
  const std::string state = "the state folder " + facts.state_folder;
  check_kernel(found, facts);
  check_inotify(found, facts, load);
  check_file_systems(found, facts, state);
  check_capacity(found, facts, state, load.machines);
  return found;
}

}  // namespace slipway::provider::local
