// Files of local clusters on the host.
//
//   STATE/CLUSTER/            0700
//     cluster.json            id, network, repository of the machine OS, forwards (cluster_config.h)
//     command.lock            held by a command that changes the cluster
//     owner.lock              held by the owner process while it runs
//     owner.json              identifies the owner process (process_id.h)
//     owner.log, events.jsonl
//     control.sock            requests to the owner (protocol.h)
//     os/COMMIT/              the installed machine OS, an OSTree system: the lower layer of disks
//     registry/, registry-program
//                             images and program of the cluster's registry (kept_release.h)
//     images/                 the images of new machines
//     registry.json           its settings (registry.h)
//     registry.log
//     own-images/             what people pushed to it, and what it has from other registries
//     registry-access/        its certificate, the login of people, logins at other registries (registry_access.h)
//     machines/NAME/
//       machine.json          number, uuid (cluster_config.h)
//       ignition.json         Ignition config, 0600; missing if the machine has none
//       console.log
//       commit                commit of the machine OS below the disk's layer
//       disk/, disk.work/     the layer with the machine's changes (disk.h)
//       var/                  the machine's /var
//       *.done                completed stages before the first boot
//       discovery.json, blank-disk/, blank-device, live-request
//                             of a blank machine (blank.h): config of its discovery image, 0600; what was written to its disk;
//                             a file that programs overwrite as a device; the next boot is from the image, once
//     machines/.gone-UUID/    a destroyed machine whose files are not removed yet
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
  std::string ignition_begun() const { return folder + "/ignition.begun"; }
  std::string discovery() const { return folder + "/discovery.json"; }
  std::string blank_disk() const { return folder + "/blank-disk"; }
  std::string blank_device() const { return folder + "/blank-device"; }
  std::string live_request() const { return folder + "/live-request"; }
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
  std::string registry_settings() const { return folder + "/registry.json"; }
  std::string own_images() const { return folder + "/own-images"; }
  std::string registry_access() const { return folder + "/registry-access"; }
  std::string registry_log() const { return folder + "/registry.log"; }
  std::string machines() const { return folder + "/machines"; }
  MachinePaths machine(std::string_view name) const { return {machines() + "/" + std::string(name)}; }
};

// In the owner's mount namespace: its private folder, and the mount point of a machine's disk.
inline constexpr std::string_view run_folder = "/run/slipway";
inline std::string mounted_disk(std::string_view run, std::string_view name) {
  return std::string(run) + "/disks/" + std::string(name);
}

// The read-only mount of a cluster's images for its machines.
inline std::string mounted_images(std::string_view run) { return std::string(run) + "/images"; }

inline ClusterPaths cluster_paths(std::string_view state, std::string_view cluster) {
  return {std::string(state) + "/" + std::string(cluster)};
}

// The name of the OSTree system on a machine's disk, and the branch from which it is installed.
inline constexpr std::string_view os_name = "slipway";

}  // namespace slipway::provider::local
