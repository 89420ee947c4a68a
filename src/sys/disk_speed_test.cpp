#include "sys/disk_speed.h"

#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::sys {
namespace {

using std::chrono::microseconds;

TEST(DiskSpeed, Percentile) {
  EXPECT_EQ(percentile_99({}), microseconds(0));
  EXPECT_EQ(percentile_99({microseconds(7)}), microseconds(7));
  std::vector<microseconds> times;
  for (int i = 200; i > 0; --i) times.emplace_back(i);
  EXPECT_EQ(percentile_99(times), microseconds(198));
}

TEST(DiskSpeed, WritesAllBlocks) {
  testing_support::RealTimeContext test;
  RealFiles files;
  const TempDir folder = TempDir::make("disk-speed").value();
  const std::string target = folder.path() + "/disk";
  ASSERT_TRUE(files.write(target, "", 0600).ok());
  const auto times = measure_durable_writes(test.context(), target, {.writers = 2, .block = 100, .bytes_each = 1050}).value();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].size(), 10u);
  EXPECT_EQ(times[1].size(), 10u);
  EXPECT_EQ(files.info(target).value()->size, 1050u + 1000);
}

TEST(DiskSpeed, Fails) {
  testing_support::RealTimeContext test;
  EXPECT_EQ(measure_durable_writes(test.context(), "/nowhere/disk", {}).error().code(), Code::not_found);
  RealFiles files;
  const TempDir folder = TempDir::make("disk-speed").value();
  const std::string target = folder.path() + "/disk";
  ASSERT_TRUE(files.write(target, "", 0600).ok());
  EXPECT_EQ(measure_durable_writes(test.context(), target, {.limit = Milliseconds(-1)}).error().code(), Code::unavailable);
  test.stop.request_stop();
  EXPECT_EQ(measure_durable_writes(test.context(), target, {}).error().code(), Code::cancelled);
}

}  // namespace
}  // namespace slipway::sys
