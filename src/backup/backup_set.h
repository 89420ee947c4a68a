// The files of a backup: their names, and which backups of a folder are removed. Pure.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::backup {

// "2026-11-27_120000": part of the names of the files. Sorts by time.
std::string backup_id(WallTime now, bool is_dirty);
// Whether a text is one, of either kind.
bool is_backup_id(std::string_view text);

std::string snapshot_name(std::string_view id);   // "snapshot_2026-11-27_120000.db"
std::string resources_name(std::string_view id);  // "static_kuberesources_2026-11-27_120000.tar.gz"
// Follows the names of encrypted files.
inline constexpr std::string_view encrypted_suffix = ".age";

// A complete backup in a folder.
struct BackupSet {
  std::string id;
  std::uint64_t size = 0;  // of its files, in bytes

  bool operator==(const BackupSet&) const = default;
};

// Which backups stay. Without a limit all do.
struct Retention {
  std::optional<std::uint64_t> count{};
  std::optional<std::uint64_t> bytes{};  // of all backups together
};

// The IDs of the backups that are removed, oldest first. The newest one always stays.
std::vector<std::string> plan_pruning(std::vector<BackupSet> sets, const Retention& retention);

// The free space that a new backup needs: the snapshot is as large as the database, and exists twice while it is encrypted. A
// tenth of the disk, at most 2 GiB, stays free, because etcd may write to the same one.
std::uint64_t needed_space(std::uint64_t database, std::uint64_t capacity, bool is_encrypted);

}  // namespace slipway::backup
