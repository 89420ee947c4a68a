// Cgroups of a cluster: HIERARCHY/slipway/ID/MACHINE in every hierarchy of the host, and .../ID/owner for the owner. They remain
// if the owner dies, and their paths lead to all remaining processes of the cluster.
//
// Tested on version 1 with the named and the hybrid hierarchy (systemd, unified). On version 2 there is one hierarchy, whose
// controllers must be enabled on each level, also in the root of the host. slipway enables only those that machines use, and
// disables those that it enabled in the root when it removes the last cluster.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The member that is not a machine.
inline constexpr std::string_view owner_member = "owner";

struct Hierarchy {
  std::string path;                        // mount point
  bool unified = false;                    // version 2
  std::vector<std::string> controllers{};  // version 1: of the mount; empty in version 2, which has cgroup.controllers

  bool operator==(const Hierarchy&) const = default;
};

// The hierarchies in the text of /proc/self/mounts, each once, in the order of the text. Pure.
std::vector<Hierarchy> hierarchies(std::string_view mounts);

// Version 2: the controllers that machines use, of those in cgroup.controllers, without those in cgroup.subtree_control. Pure.
std::vector<std::string> controllers_to_enable(std::string_view available, std::string_view enabled);

// The cgroup of a cluster, or of one member, in each hierarchy. A member is a machine or "owner". Pure.
std::vector<std::string> cgroup_folders(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member = {});

// Creates the cgroups of a member that is not running. Removes those of its last run first: cAdvisor would retry for seconds to
// read each dead container in them. errors: as Files
Result<> make_cgroups(sys::Files& files, const std::vector<Hierarchy>& all, std::string_view id, std::string_view member);

// Puts the calling process into the cgroups of a member.
Result<> join_cgroups(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member);

// A command that puts itself into these cgroups and then becomes `command`. It has no moment at which a service manager that ends
// the cgroup of its caller would end it, too. Pure.
std::vector<std::string> in_cgroups(const std::vector<std::string>& folders, const std::vector<std::string>& command);

// The cgroups for another process next to a machine's init, one of each hierarchy. In version 2 it is a cgroup beside that of
// init: only the outermost cgroups may contain processes. Pure.
//
//   cgroups  /proc/PID/cgroup of the init, as its reader sees it from the host
std::vector<std::string> cgroups_beside(const std::vector<Hierarchy>& all, std::string_view cgroups);

// Kills every process in the cgroups of a cluster or of one member, and removes the cgroups.
//
//   order   inits of process namespaces first: the kernel then kills all processes of the namespace
//   time    up to 10 s, if the kernel does not end a process
//   errors  timeout, with the cgroups that remain
Result<> end_cgroups(const sys::Context& context, const std::vector<Hierarchy>& all, std::string_view id,
                     std::string_view member = {});

// The process IDs in a line "NSpid:\t4711\t1" of /proc/PID/status, that of the outermost namespace first. Pure.
std::vector<int> namespace_pids(std::string_view status);

}  // namespace slipway::provider::local
