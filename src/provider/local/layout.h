// Where things of local clusters lie on the host.
//
//   STATE/CLUSTER/            0700
//     cluster.json            id, network, repository of the machine OS, forwards (cluster_config.h)
//     command.lock            held by a command that changes the cluster
//     owner.lock              held by the owner process as long as it lives
//     owner.json              how to find that process (process_id.h)
//     owner.log, events.jsonl
//     control.sock            requests to the owner (protocol.h)
//     os/COMMIT/              the machine OS as installed, an OSTree system: what disks are layers over
//     registry/, registry-program
//                             what its registry serves, and the registry (kept_release.h)
//     images/                 the images that machines begin with
//     registry.log
//     machines/NAME/
//       machine.json          number, uuid (machine_record.h)
//       ignition.json         its Ignition config, 0600; absent when it has none
//       console.log
//       commit                of the machine OS that its disk is a layer over
//       disk/, disk.work/     the layer: what the machine changed (disk.h)
//       var/                  its /var
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
  std::string commit() const { return folder + "/commit"; }
  std::string layer() const { return folder + "/disk"; }
  std::string layer_work() const { return folder + "/disk.work"; }
  std::string var() const { return folder + "/var"; }
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
  std::string os() const { return folder + "/os"; }
  std::string registry() const { return folder + "/registry"; }
  std::string registry_program() const { return folder + "/registry-program"; }
  std::string images() const { return folder + "/images"; }
  std::string registry_log() const { return folder + "/registry.log"; }
  std::string machines() const { return folder + "/machines"; }
  MachinePaths machine(std::string_view name) const { return {machines() + "/" + std::string(name)}; }
};

// In the owner's own file system: its private folder, and a machine's disk, mounted as long as the machine has one.
inline constexpr std::string_view run_folder = "/run/slipway";
inline std::string mounted_disk(std::string_view run, std::string_view name) {
  return std::string(run) + "/disks/" + std::string(name);
}

// The images of a cluster, read-only, for its machines to see.
inline std::string mounted_images(std::string_view run) { return std::string(run) + "/images"; }

inline ClusterPaths cluster_paths(std::string_view state, std::string_view cluster) {
  return {std::string(state) + "/" + std::string(cluster)};
}

// The one OSTree system of a machine's disk, and the branch that it is installed from.
inline constexpr std::string_view os_name = "slipway";
inline constexpr std::string_view os_ref = "slipway/machine-os";

}  // namespace slipway::provider::local
