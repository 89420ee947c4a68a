// slipway restore: brings the control plane of a cluster back to a backup. One master, the recovery master, gets the data and the
// files of its static pods; the etcd operator adds the members of the other masters to it, as in an installation.
#pragma once

#include "backup/snapshot.h"
#include "cluster/backup.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

// The two files of a backup on this host.
struct BackupFiles {
  std::string id;
  std::string snapshot, resources;  // paths; both end with .age if they are encrypted
  bool is_encrypted() const;

  bool operator==(const BackupFiles&) const = default;
};

// The newest complete backup below these names of a folder, or the one that a snapshot file belongs to. Pure.
//
//   path    the folder, or a file in it
//   names   what the folder contains
//   errors  not_found: there is no such pair
Result<BackupFiles> choose_backup(const std::string& folder, const std::string& file, const std::vector<std::string>& names);

// Reads "etcd-members.json" of a backup: the masters, with the hosts of their peer URLs as addresses. Pure.
// errors: invalid: not such a document, or no voter
struct MasterOfBackup {
  std::string name, address, peer_url;

  bool operator==(const MasterOfBackup&) const = default;
};
Result<std::vector<MasterOfBackup>> parse_members(const std::string& text);

struct RestoreRequest {
  std::string folder;                     // for the state of the restore; removed at its end
  BackupFiles files{};                    // not encrypted
  std::string authorities{};              // of etcd, PEM, from the resources of the backup
  std::vector<MasterOfBackup> masters{};  // those that exist, the recovery master among them
  std::string recovery{};                 // name of the recovery master
  std::vector<std::string> lost{};        // names of masters that are gone for good; nothing waits for their nodes
  bool is_of_survivor = false;            // the backup was taken of the recovery master for this restore
};

// The backup of a restore that was begun in a folder and is not finished. errors: invalid
Result<std::optional<std::string>> unfinished_backup(sys::Files& files, const std::string& folder);

// Which of these masters answer: a restore from a survivor would give up what their etcd has. time: seconds for each that is
// silent
Result<std::vector<std::string>> answering_masters(const Environment& environment, const std::vector<MasterOfBackup>& masters,
                                                   const RunOnMaster& run);

// The procedure as a table.
struct RestoreStage {
  std::string_view name;
  std::string_view machines;  // "all masters", "recovery master"
  std::string_view what;
};
std::vector<RestoreStage> restore_stages();

// What the plan found on the machines and in the files before anything is changed.
struct RestoreCheck {
  backup::SnapshotStatus snapshot;
  std::string began;  // time of the recovery master, RFC 3339
};

// Reads the backup back and asks all masters. Changes nothing.
//
//   errors  invalid: the backup, or a master of another cluster, whose etcd has other authorities; unavailable: a master does not
//   answer, its
//           kubelet does not run, or its disk is too small; all masters are asked, and all problems are reported together
Result<RestoreCheck> check_restore(const Environment& environment, const RestoreRequest& request, const RunOnMaster& run);

// Restores the cluster. Each stage is recorded in the folder of the request; after a failure or a kill, the same call continues.
//
//   api     of the cluster, with credentials that were valid when the backup was taken
//   errors  conflict: the folder has the state of another backup or recovery master; those of `run`; timeout: with what is
//   missing time    minutes
Result<> restore(const Environment& environment, kube::Api& api, const RestoreRequest& request, const RestoreCheck& check,
                 const RunOnMaster& run);

// Whether two bundles of certificates have one in common. Pure.
bool share_authority(std::string_view one, std::string_view other);

// Masters whose members are not voters of the restored etcd, one line each. `text` is the answer of `etcdctl member list`. Pure.
// errors: invalid
Result<std::vector<std::string>> missing_members(const std::string& text, const std::vector<MasterOfBackup>& masters);

// Static pods of the control plane that have not become ready since a time, one line each. Pure.
//
//   pods    of the four namespaces of the control plane
//   began   RFC 3339
std::vector<std::string> missing_pods(const std::vector<Json>& pods, const std::vector<MasterOfBackup>& masters,
                                      std::string_view began);

// Nodes whose kubelet has not renewed its Lease since a time. Pure.
std::vector<std::string> silent_nodes(const std::vector<Json>& nodes, const std::vector<Json>& leases, std::string_view began);

}  // namespace slipway::cluster
