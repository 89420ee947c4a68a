// What commands do with local clusters: make one, ask its owner, remove it.
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

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// Which cluster, and the program that becomes its owner: PROGRAM machine-owner --cluster NAME --state DIR.
struct ClusterChoice {
  std::string state;  // absolute
  std::string cluster;
  std::string program;  // absolute path of slipway

  ClusterPaths paths() const { return cluster_paths(state, cluster); }
};

// The images in a folder that `make payload` made, build/payload: what of containerd/, registry/ and bin/registry is there.
Result<Images> find_images(sys::Files& files, const std::string& folder);

// Makes the cluster if it is not there: its folder and config. One that is there stays as it is.
//
//   errors  conflict: it is there with other forwards (none wished for fits all), or another command works on it
Result<> ensure_cluster(sys::Files& files, sys::Random& random, const ClusterChoice& choice, const ClusterOptions& options);

// Of a host's inotify instances what a machine takes, as measured: one that runs a control plane, and one that does not. Each
// kubelet has 6, each systemd 5, each API server and controller a few.
inline constexpr int inotify_of_control_plane = 28;
inline constexpr int inotify_of_worker = 13;

// Machines that are to be made with one Ignition config, or without any.
struct MachineGroup {
  std::vector<std::string> names;
  std::optional<std::string> ignition{};
  int inotify_instances = inotify_of_control_plane;  // of each
  std::string after{};                               // as Request's
  bool is_of_cluster = false;                        // its pods have to run; else they may have none
};

// How many more than now the groups need at most at the same time: those that are on have theirs, and those that come after a
// machine do not need theirs beside its. Pure.
int peak_of_inotify(const std::vector<MachineGroup>& groups, const std::set<std::string>& on = {});

// Whether this host can run the machines, and whether what is wished for is somebody else's already: a machine of the name that
// has another config, other forwards, ports of the host. Looks at everything before anything is made; what is doubtful is logged.
//
//   errors  invalid: all that is missing or taken, a line each, with what to do
Result<> preflight(const sys::Context& context, sys::Files& files, const ClusterChoice& choice, const ClusterOptions& options,
                   const std::vector<MachineGroup>& groups);

// Starts the cluster's owner if there is none, after sweeping what a dead one left.
//
//   errors  not_found: no such cluster; conflict: another command works on it; unavailable: why the owner ended, and where its
//   log is
Result<> ensure_owner(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

// Asks the owner. Events become events of ours; console lines go to `console`.
//
//   returns  the answer
//   errors   unavailable: there is no owner, or it died meanwhile; those of the request
//   time     what the request takes; a stop ends the waiting, not the work
Result<Json> ask(const sys::Context& context, const ClusterChoice& choice, const Request& request,
                 const std::function<void(std::string_view)>& console = {});

// The machines of a cluster, without starting an owner: when there is none, all of them are off.
// errors: not_found: no such cluster
Result<std::vector<MachineStatus>> list_machines(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

// errors: not_found: no such cluster; invalid
Result<ClusterConfig> read_cluster(sys::Files& files, const ClusterChoice& choice);

// Names of all clusters under a state folder.
Result<std::vector<std::string>> list_clusters(sys::Files& files, const std::string& state);

// Ends everything of a cluster at once and removes its files. Fine when there is none.
Result<> destroy_cluster(const sys::Context& context, sys::Files& files, const ClusterChoice& choice);

}  // namespace slipway::provider::local
