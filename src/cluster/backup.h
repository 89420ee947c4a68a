// slipway backup: a snapshot of etcd and the files of the static pods of one master, as the script cluster-backup.sh of OpenShift
// takes them.
#pragma once

#include "backup/snapshot.h"
#include "cluster/environment.h"
#include "kube/client.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::cluster {

struct Master {
  std::string name;     // of its Node
  std::string address;  // InternalIP

  bool operator==(const Master&) const = default;
};

// Runs a command in a master as root. errors: any
using RunOnMaster = std::function<Result<sys::Output>(const sys::Context& context, const Master& master, sys::Command command)>;

struct BackupRequest {
  std::string folder;                     // where the files are written
  std::string master{};                   // empty: any that is ready
  bool is_forced = false;                 // although the control plane is being changed
  std::vector<std::string> recipients{};  // public keys of age; empty: the files are not encrypted
};

struct Backup {
  std::string snapshot, resources;  // paths of the files
  backup::SnapshotStatus status;
  Master master;
};

// A master whose Node and whose pod of etcd are Ready: the wanted one, otherwise the first by name. Pure.
// errors: not_found: there is none, with the reason
Result<Master> choose_master(const std::vector<Json>& nodes, const std::vector<Json>& etcd_pods, const std::string& wanted);

// The operators of the control plane that are changing it, one line each: a backup would contain half of a change. Pure.
std::vector<std::string> changing_operators(const std::vector<Json>& cluster_operators);

// Takes a backup, copies it here, reads it back, and records it in ConfigMap openshift-etcd/recent-backup, where the
// cluster-version operator looks before an update to another minor version. The files contain all Secrets of the cluster and the
// private keys of its control plane; they have mode 0600, and their folder 0700 if it is new. A call that fails or is killed
// leaves no complete file here; the next call removes what it left on the machine.
//
//   errors  conflict: the control plane is being changed, and the request is not forced; not_found: no master; invalid: what
//           was copied is not what the machine has, or not a snapshot; those of `run`, of Files and of kube::Api
//   time    that of copying the database of etcd
Result<Backup> take_backup(const Environment& environment, kube::Api& api, const BackupRequest& request, const RunOnMaster& run);

// Takes a backup of a master whose etcd has lost its quorum, without the API: what this member knows. Its name says that it may
// be dirty. errors: those of take_backup
Result<Backup> take_survivor_backup(const Environment& environment, const std::string& folder, const Master& master,
                                    const RunOnMaster& run);

// The command that runs a command as root on a master by SSH, as user core. Unknown host keys are added to `known_hosts`.
//
//   host    name or address
//   keys    files with private keys; empty: those of the agent and of ~/.ssh
std::vector<std::string> root_command_by_ssh(const std::string& host, const std::vector<std::string>& keys,
                                             const std::string& known_hosts, const std::vector<std::string>& command);

}  // namespace slipway::cluster
