// Functions for commands that work with local clusters: create a cluster, send a request to its owner, destroy it.
#pragma once

#include "provider/local/cluster_config.h"
#include "provider/local/layout.h"
#include "provider/local/protocol.h"

#include "base/findings.h"

#include "base/json.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/runner.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// The name of a cluster, its state folder, and the program of its owner: PROGRAM machine-owner --cluster NAME --state DIR.
struct ClusterChoice {
  std::string state;  // absolute
  std::string cluster;
  std::string program;  // absolute path of slipway

  ClusterPaths paths() const { return cluster_paths(state, cluster); }
};

// The images in the folder that `make payload` creates (build/payload): containerd/, registry/ and bin/registry, if they exist.
Result<Images> find_images(sys::Files& files, const std::string& folder);

// Creates the folder and config of the cluster if it does not exist. Does not change an existing cluster.
//
//   errors  conflict: the cluster exists with other forwards (no error if options has no forwards), without a setting that
//           options has (egress, offline, ports of the host, names), or another command holds its lock
Result<> ensure_cluster(sys::Files& files, sys::Random& random, const ClusterChoice& choice, const ClusterOptions& options);

// The inotify instances of the host that a machine uses, with and without a control plane.
struct InotifyUse {
  int control_plane;
  int worker;
};

// Measured. A kubelet uses 6, a systemd 5, each API server and controller a few.
inline constexpr InotifyUse inotify_use = {.control_plane = 28, .worker = 13};

// On a host with cgroups of version 2 only, containerd watches each container and each sandbox with one more instance. Counted on
// the machines of a complete cluster: 34 and 12.
inline constexpr InotifyUse inotify_use_unified = {.control_plane = 62, .worker = 25};

// Machines to create with the same Ignition config, or without one.
struct MachineGroup {
  std::vector<std::string> names;
  std::optional<std::string> ignition{};
  bool is_blank = false;  // with an empty disk (blank.h)
  bool has_control_plane = true;
  std::string after{};         // as in Request
  bool is_of_cluster = false;  // true: the machines must run pods; false: they may run none
};

// The maximum number of additional inotify instances that the groups need at the same time. Machines that are on need no
// additional ones. Machines that boot after another machine and that machine do not need theirs at the same time. Pure.
int peak_of_inotify(const std::vector<MachineGroup>& groups, const InotifyUse& use, const std::set<std::string>& on = {});

// Checks whether this host can run the machines, and whether machine names, forwards or ports are taken: an existing machine with
// another config, a cluster with other forwards, a port that is in use. Loads kernel modules that are missing; changes nothing
// else. Logs warnings.
//
//   errors  invalid: all problems, one line each with a hint
Result<> preflight(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                   const ClusterOptions& options, const std::vector<MachineGroup>& groups);

// The same for machines that exist and are off: a host may have lost what it had when they were created, for instance kernel
// modules at its own restart.
//
//   names    the machines; empty: all
//   errors   invalid: all problems, one line each with a hint; not_found: no such cluster
Result<> preflight_start(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                         const std::vector<std::string>& names = {});

// Starts the cluster's owner if none runs, after cleaning up what a dead owner left (sweep.h).
//
//   errors  not_found: no such cluster; conflict: another command holds the cluster's lock; unavailable: the owner failed to
//           start, with its message and log file
Result<> ensure_owner(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

// Sends a request to the owner. Relays its events to the context's events; console lines go to `console`.
//
//   returns  the answer
//   errors   unavailable: no owner runs, or it died during the request; those of the request
//   time     that of the request; after a stop the call returns, but the owner completes the request
Result<Json> ask(const sys::Context& context, const ClusterChoice& choice, const Request& request,
                 const std::function<void(std::string_view)>& console = {});

// The machines of a cluster. Does not start an owner: without an owner all machines are off.
// errors: not_found: no such cluster
Result<std::vector<MachineStatus>> list_machines(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

// errors: not_found: no such cluster; invalid
Result<ClusterConfig> read_cluster(sys::Files& files, const ClusterChoice& choice);

// Names of all clusters in a state folder.
Result<std::vector<std::string>> list_clusters(sys::Files& files, const std::string& state);

// Kills all processes of a cluster and removes its files. Succeeds if there is no such cluster.
Result<> destroy_cluster(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

}  // namespace slipway::provider::local
