// cluster-etcd-operator backup: takes a backup of the master that its pod runs on. The pod is one of a Job of the operator
// (backups.h, data/components/etcd/backup-job.yaml).
#pragma once

#include "backup/backup_set.h"
#include "components/program/program.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::components::etcd {

struct BackupOrder {
  std::string folder;  // "/var/lib/etcd-auto-backup/default"
  std::string node;    // for messages
  backup::Retention retention;
  std::vector<std::string> recipients{};  // public keys of age; empty: the files are not encrypted
};

// Space of a disk in bytes.
struct DiskSpace {
  std::uint64_t available = 0, capacity = 0;
};
using FindSpace = std::function<Result<DiskSpace>(const std::string& folder)>;

// Takes a backup: checks the space, saves a snapshot and the files of the static pods below FOLDER/.new, reads the snapshot back,
// encrypts the files on request, and gives the backup its name, FOLDER/ID. A call that is killed leaves nothing but FOLDER/.new,
// which no reader counts as a backup and the next call replaces. Removes backups that the retention does not allow, before and
// after. The environment of this process has the settings of etcdctl.
//
//   returns  the record of the backup: {"id", "revision", "keys", "size"}, the last three as texts
//   errors   conflict: another process takes a backup into the folder; unavailable: too little space, with figures; etcd or the
//            disk fail; invalid: what was saved is not a snapshot
//   time     that of copying the database of etcd
Result<Json> take_backup(const Environment& environment, const BackupOrder& order, const FindSpace& find_space);

// The command, with the flags --folder, --keep-number, --keep-bytes, --encrypt-to (repeatable) and --result. NODE_NAME is in the
// environment. Appends the record to --result, the termination message of the container, where the operator reads it.
Result<> run_backup(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
