#include "backup/backup_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace slipway::backup {

namespace {

constexpr std::string_view dirty_suffix = "__POSSIBLY_DIRTY__";
constexpr std::string_view shape = "0000-00-00_000000";
constexpr std::uint64_t resources_space = 32u << 20;  // static pods are much smaller
constexpr std::uint64_t largest_reserve = std::uint64_t{2} << 30;

}  // namespace

std::string backup_id(WallTime now, bool is_dirty) {
  std::string id = to_rfc3339(std::chrono::floor<std::chrono::seconds>(now)).substr(0, 19);  // 2026-11-27T12:00:00
  std::erase(id, ':');
  id[10] = '_';
  return is_dirty ? id.append(dirty_suffix) : id;
}

bool is_backup_id(std::string_view text) {
  if (text.ends_with(dirty_suffix)) text.remove_suffix(dirty_suffix.size());
  return std::ranges::equal(text, shape, [](char c, char of_shape) {
    return of_shape == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == of_shape;
  });
}

std::string snapshot_name(std::string_view id) { return fmt::format("snapshot_{}.db", id); }
std::string resources_name(std::string_view id) { return fmt::format("static_kuberesources_{}.tar.gz", id); }

std::vector<std::string> plan_pruning(std::vector<BackupSet> sets, const Retention& retention) {
  std::ranges::sort(sets, std::ranges::greater(), &BackupSet::id);
  std::vector<std::string> removed;
  std::uint64_t count = 0, bytes = 0;
  bool is_full = false;
  for (const BackupSet& set : sets) {
    ++count;
    bytes += set.size;
    is_full |= (retention.count && count > *retention.count) || (retention.bytes && bytes > *retention.bytes);
    if (is_full && count > 1) removed.push_back(set.id);
  }
  std::ranges::reverse(removed);
  return removed;
}

std::uint64_t needed_space(std::uint64_t database, std::uint64_t capacity, bool is_encrypted) {
  return (is_encrypted ? 2 : 1) * database + resources_space + std::min(capacity / 10, largest_reserve);
}

}  // namespace slipway::backup
