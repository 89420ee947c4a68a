#include "backup/backup_set.h"

#include <gtest/gtest.h>

namespace slipway::backup {
namespace {

using Names = std::vector<std::string>;

TEST(BackupId, IsTheTime) {
  const WallTime noon = parse_rfc3339("2026-11-27T12:34:56Z").value();
  EXPECT_EQ(backup_id(noon, false), "2026-11-27_123456");
  EXPECT_EQ(backup_id(noon, true), "2026-11-27_123456__POSSIBLY_DIRTY__");
  for (const bool is_dirty : {false, true}) EXPECT_TRUE(is_backup_id(backup_id(noon, is_dirty)));
  for (const char* other : {"", ".new", "2026-11-27_12345", "2026-11-27_123456.new", "2026-11-27-123456", "2026-11-27_12345x"})
    EXPECT_FALSE(is_backup_id(other)) << other;
}

TEST(PlanPruning, RemovesTheOldest) {
  const std::vector<BackupSet> sets = {{"2026-11-27_030000", 10}, {"2026-11-25_030000", 10}, {"2026-11-26_030000", 10}};
  struct Case {
    const char* what;
    Retention retention;
    Names removed;
  };
  const std::vector<Case> cases = {
      {"no limit", {}, {}},
      {"as many as allowed", {.count = 3}, {}},
      {"one too many", {.count = 2}, {"2026-11-25_030000"}},
      {"the newest always stays", {.count = 0}, {"2026-11-25_030000", "2026-11-26_030000"}},
      {"as large as allowed", {.bytes = 30}, {}},
      {"one byte too large", {.bytes = 29}, {"2026-11-25_030000"}},
      {"the newest alone is too large", {.bytes = 1}, {"2026-11-25_030000", "2026-11-26_030000"}},
      {"both limits", {.count = 2, .bytes = 15}, {"2026-11-25_030000", "2026-11-26_030000"}},
  };
  for (const Case& c : cases) EXPECT_EQ(plan_pruning(sets, c.retention), c.removed) << c.what;
  EXPECT_EQ(plan_pruning({}, {.count = 1}), Names());
}

TEST(NeededSpace, CountsTheSecondCopyOfAnEncryptedSnapshot) {
  const std::uint64_t plain = needed_space(1000, 0, false);
  EXPECT_EQ(needed_space(1000, 0, true), plain + 1000);
  EXPECT_EQ(needed_space(1000, 5000, false), plain + 500);
  EXPECT_EQ(needed_space(1000, std::uint64_t{1} << 40, false), plain + (std::uint64_t{2} << 30));
}

}  // namespace
}  // namespace slipway::backup
