// What an installation of this host does, as a plan: the request of the service, and the stages of each role. Pure.
#pragma once

#include "assist/inventory.h"
#include "base/json.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// Step `install`.
struct InstallRequest {
  std::string cluster_id;
  std::string role;        // "master", "worker", "bootstrap"
  std::string disk;        // path of the device, "/dev/sda"
  int masters_needed = 0;  // role bootstrap: masters that must be ready before this host becomes one
  bool waits_for_hosts = false;  // role bootstrap: the service runs on this host, and the others need it until they restart
  bool is_single_node = false;   // role bootstrap: the cluster has no other master; this host bootstraps it in place

  bool operator==(const InstallRequest&) const = default;
};

// Reads the arguments of step `install`: {"cluster_id", "role", "boot_device", "control_plane_count", ...}. Members that would
// change what is installed and that this agent does not do are refused by name. Images, versions and the settings of the
// controller are for others and are ignored.
//
//   errors  invalid, with all wrong fields; those of find_installation_disk
Result<InstallRequest> parse_install_request(const Json& arguments, const std::vector<assist::Disk>& disks);

// A local machine has no disk with partitions: its firmware installs the machine OS when it finds the config and the commit of
// the OS in this folder.
struct LocalDisk {
  std::string folder;  // "/run/slipway-disk"
  std::string commit;  // of OSTree

  bool operator==(const LocalDisk&) const = default;
};

// By the kernel command line (`slipway.local.disk=`, `slipway.local.commit=`); nothing on other machines.
std::optional<LocalDisk> local_disk_of(std::string_view command_line);

// What a stage does.
enum class Work {
  none,
  fetch_bootstrap_config,
  plan_live_config,
  apply_live_config,
  start_bootstrap,
  fetch_config,
  complete_config,
  unpack_image,
  add_config,
  write_disk,
  write_local_disk,
  wait_for_masters,
  wait_for_ready_masters,
  wait_for_bootkube,
  wait_for_controller,
  wait_for_hosts,
  send_logs,
  reboot,
};

struct InstallStage {
  std::string name;          // of its marker file: "write-disk"
  std::string_view reports;  // the stage of the API that begins with it; "": none
  Work work = Work::none;
  std::vector<std::string> needs{};  // stages that must be done before

  bool operator==(const InstallStage&) const = default;
};

// The stages of a role. All but those of the bootstrap need the one before them.
//
//   master     starts from its disk at once
//   worker     first waits for two masters, because no master serves its config before, unless the cluster is installed
//   bootstrap  starts the bootstrap of the cluster in the live system, while it writes its own disk as a master. When the cluster
//              runs on the other masters, and its controller reports to the service, the host restarts as the last master. If it
//              carries the service, it first waits until the other hosts do not need the service any more
//
// A single node writes its disk when the bootstrap has ended, because the state of the cluster is in the config of the node.
std::vector<InstallStage> install_stages(const InstallRequest& request, bool is_local_machine);

// The first byte of the partition "boot" in the output of `sfdisk --json IMAGE`. errors: invalid: there is none
Result<std::uint64_t> boot_offset(std::string_view partition_table);

// How many hosts of a cluster are control plane nodes that are done, in the answer of /v2/clusters/ID/hosts.
int count_masters_that_are_done(const Json& hosts);

// The hosts besides `own` that still need the service, in the same answer: those that have not restarted and have not failed.
// "w0 is in stage Waiting for control plane"; empty: none.
std::string hosts_that_need_the_service(const Json& hosts, std::string_view own);

// Whether the hosts, in the same answer, are added to a cluster that is installed. Its masters are not among them.
bool are_added_later(const Json& hosts);

// The text of the next report while a disk is written: "5%", "10%", ..., "100%"; nothing until five points more are done.
// reported: the points of the last report; changed by a report
std::optional<std::string> next_percent(std::uint64_t done, std::uint64_t total, int& reported);

}  // namespace slipway::agent
