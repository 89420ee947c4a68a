// Reads back a snapshot of etcd: the file of `etcdctl snapshot save`, a database of bbolt (https://github.com/etcd-io/bbolt)
// with its SHA-256 at the end.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace slipway::backup {

struct SnapshotStatus {
  std::uint64_t size = 0;
  std::uint64_t revision = 0;  // of the newest change
  std::uint64_t keys = 0;      // entries of all buckets, as `etcdutl snapshot status` counts them

  bool operator==(const SnapshotStatus&) const = default;
};

// Checks the hash, and walks the whole database.
//
//   errors  invalid: the content does not have its hash, or is not a database of etcd; those of reading the file
//   time    that of reading the file twice
Result<SnapshotStatus> read_snapshot(const std::string& path);

}  // namespace slipway::backup
