// Cgroups of a cluster: HIERARCHY/slipway/ID/MACHINE in every hierarchy of the host, and .../ID/owner for the owner itself. They
// are what is left of a cluster that died, and by their path everything of it is found again.
//
// Seen on version 1 with the named and the hybrid hierarchy (systemd, unified). On version 2 there is one hierarchy, whose
// controllers have to be handed down level by level; that part has only been tested as text.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct Hierarchy {
  std::string path;                        // where it is mounted
  bool unified = false;                    // version 2
  std::vector<std::string> controllers{};  // version 1: of its mount; version 2: asked from cgroup.controllers

  bool operator==(const Hierarchy&) const = default;
};

// The hierarchies in the text of /proc/self/mounts, each once, in its order. Pure.
std::vector<Hierarchy> hierarchies(std::string_view mounts);

// The folders of a cluster, or of one member of it, one a hierarchy. Pure.
std::vector<std::string> cgroup_folders(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member = {});

// Makes the cgroups of a member that is not running, new and usable. Stale ones of its last run go first: cAdvisor retries
// each dead container it finds there for seconds. errors: as Files
Result<> make_cgroups(sys::Files& files, const std::vector<Hierarchy>& all, std::string_view id, std::string_view member);

// Puts the calling process into the cgroups of a member.
Result<> join_cgroups(const std::vector<Hierarchy>& all, std::string_view id, std::string_view member);

// Ends every process in the cgroups of a cluster, or of one member, and removes them.
//
//   order   inits of process namespaces first: the kernel ends all that is inside with them
//   time    up to 10 s, for processes that the kernel does not let go
//   errors  timeout, naming the cgroups that stay
Result<> end_cgroups(const sys::Context& context, const std::vector<Hierarchy>& all, std::string_view id,
                     std::string_view member = {});

// The numbers in a line "NSpid:\t4711\t1" of /proc/PID/status, outermost first. Pure.
std::vector<int> namespace_pids(std::string_view status);

}  // namespace slipway::provider::local
