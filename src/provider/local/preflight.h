// Preflight: checks whether this host can run local machines. Reports all problems together, each with a hint.
#pragma once

#include "base/findings.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/programs.h"
#include "sys/runner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// Properties of the host. A property that could not be determined is empty and causes no finding.
struct Facts {
  bool is_root = false;
  std::vector<std::string> missing_programs{};
  bool has_cgroups = false;
  bool has_unified_cgroups = false;  // only version 2
  bool has_overlay = false;
  bool has_nftables = false;
  bool has_br_netfilter = false;
  std::optional<int> inotify_instances_limit{};
  int inotify_instances_used = 0;  // by processes of the current user: the limit applies to each user
  std::string state_folder{};
  std::string state_filesystem{};  // type: "ext4"
  std::optional<std::uint64_t> state_free_bytes{};
  std::string os_repo{};
  bool needs_os_repo = true;  // false if the cluster has its copy of the machine OS
  bool os_repo_exists = false;
  bool os_repo_on_same_filesystem = false;
  std::optional<std::uint64_t> available_memory_bytes{};
};

// The programs that local machines need on the host.
std::vector<sys::NeededProgram> needed_programs();

// Additional load of the host by new machines.
struct Load {
  int machines = 0;
  int inotify_instances = 0;
  bool is_cluster = false;  // true: missing inotify instances are an error; false: a warning, because pods may not run
};

// Checks whether the host supports the additional load. Without root that is the only finding: the PATH of other users lacks the
// folders of some programs, only root can load kernel modules, and inotify instances are counted for each user. Pure.
Findings check(const Facts& facts, const Load& load);

// Loads the kernel modules that machines need and that the host does not have yet: overlay, br_netfilter. A module that cannot be
// loaded is a finding of `check`. If it loads br_netfilter, it turns it off for the network namespace of the host, so that
// bridges of the host work as before.
void load_modules(const sys::Context& context, sys::Files& files, sys::Runner& runner);

// Whether each network namespace has its own settings of br_netfilter, by the release of the kernel ("6.1.0-56-amd64"): since
// Linux 5.3. Pure.
bool has_bridge_settings_of_namespaces(std::string_view kernel_release);

// Examines the host. `state` need not exist. Loads no kernel module except nf_tables, which the kernel loads on request.
Facts gather_facts(sys::Files& files, const std::string& state, const std::string& os_repo);

}  // namespace slipway::provider::local
