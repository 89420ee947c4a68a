// Preflight: whether this host can run local machines, all that is missing at once, each with how to get it.
#pragma once

#include "base/findings.h"
#include "sys/context.h"
#include "sys/files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// What was seen of the host. A fact that could not be learnt is empty and is not held against the host.
struct Facts {
  bool is_root = false;
  std::vector<std::string> missing_programs{};
  bool has_cgroups = false;
  bool has_overlay = false;
  bool has_nftables = false;
  bool has_br_netfilter = false;
  std::optional<int> inotify_instances_limit{};
  int inotify_instances_used = 0;  // by processes of our user: the kernel counts each user's
  std::string state_folder{};
  std::string state_filesystem{};  // type: "ext4"
  std::optional<std::uint64_t> state_free_bytes{};
  std::string os_repo{};
  bool needs_os_repo = true;  // a cluster that has its machine OS does not
  bool os_repo_exists = false;
  bool os_repo_on_same_filesystem = false;
  std::optional<std::uint64_t> available_memory_bytes{};
};

// A program that local machines need on the host, and the package of Debian that has it.
struct NeededProgram {
  std::string_view name;
  std::string_view package;
};
std::vector<NeededProgram> needed_programs();

// What local machines with pods need at the same time.
struct Load {
  int machines = 0;
  int inotify_instances = 0;
  bool is_cluster = false;  // they cannot do without; else nobody knows whether pods will run
};

// What stands against so much more. Pure.
Findings check(const Facts& facts, const Load& load);

// Looks at the host. `state` need not exist yet. Loads no module but those that the kernel loads by itself when asked.
Facts gather_facts(sys::Files& files, const std::string& state, const std::string& os_repo);

}  // namespace slipway::provider::local
