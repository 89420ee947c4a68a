// Where things of local clusters lie on the host.
//
//   STATE/CLUSTER/            0700
//     cluster.json            id, network, repository of the machine OS, forwards (cluster_config.h)
//     command.lock            held by a command that changes the cluster
//     owner.lock              held by the owner process as long as it lives
//     owner.json              how to find that process (process_id.h)
//     owner.log, events.jsonl
//     control.sock            requests to the owner (protocol.h)
//     registry/               what its registry serves, hard links
//     registry.log
//     machines/NAME/
//       machine.json          number, uuid (machine_record.h)
//       ignition.json         its Ignition config, 0600; absent when it has none
//       console.log
//       sysroot/              an OSTree system, the machine's disk
//       *.done                stages of the way to the first boot
//     machines/.gone-UUID/    of a machine that was destroyed, until its files are removed
#pragma once

#include <string>
#include <string_view>

namespace slipway::provider::local {

struct MachinePaths {
  std::string folder;

  std::string record() const { return folder + "/machine.json"; }
  std::string ignition() const { return folder + "/ignition.json"; }
  std::string console() const { return folder + "/console.log"; }
  std::string sysroot() const { return folder + "/sysroot"; }
};

struct ClusterPaths {
  std::string folder;

  std::string config() const { return folder + "/cluster.json"; }
  std::string command_lock() const { return folder + "/command.lock"; }
  std::string owner_lock() const { return folder + "/owner.lock"; }
  std::string owner() const { return folder + "/owner.json"; }
  std::string owner_log() const { return folder + "/owner.log"; }
  std::string events() const { return folder + "/events.jsonl"; }
  std::string control_name() const { return "control.sock"; }
  std::string registry() const { return folder + "/registry"; }
  std::string registry_log() const { return folder + "/registry.log"; }
  std::string machines() const { return folder + "/machines"; }
  MachinePaths machine(std::string_view name) const { return {machines() + "/" + std::string(name)}; }
};

inline ClusterPaths cluster_paths(std::string_view state, std::string_view cluster) {
  return {std::string(state) + "/" + std::string(cluster)};
}

// The one OSTree system of a machine's disk, and the branch that it is installed from.
inline constexpr std::string_view os_name = "slipway";
inline constexpr std::string_view os_ref = "slipway/machine-os";

}  // namespace slipway::provider::local
