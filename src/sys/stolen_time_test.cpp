#include "sys/stolen_time.h"

#include <gtest/gtest.h>

namespace slipway::sys {
namespace {

constexpr const char* two_processors =
    "cpu  7390172 3037948 1916797 3370387 59270 0 97172 516316 0 0\n"
    "cpu0 3690172 1537948 958797 1670387 29270 0 48172 256316 0 0\n"
    "cpu1 3700000 1500000 958000 1700000 30000 0 49000 260000 0 0\n"
    "intr 12345 0 9\nctxt 4711\nbtime 1700000000\n";

TEST(StolenTime, IsThatOfOneProcessorOnAverage) {
  const struct {
    std::string text;
    long ticks;
    Milliseconds expected;
  } rows[] = {
      {two_processors, 100, Milliseconds(2'581'580)},
      {two_processors, 1000, Milliseconds(258'158)},
      {"cpu  1 2 3 4 5 6 7 300\ncpu0 1 2 3 4 5 6 7 300\n", 100, Seconds(3)},
      {"cpu  1 2 3 4\ncpu0 1 2 3 4\n", 100, Seconds(0)},  // an old kernel
      {"cpu  1 2 3 4 5 6 7 300\n", 100, Seconds(0)},
      {"", 100, Seconds(0)},
  };
  for (const auto& row : rows) EXPECT_EQ(stolen_time(row.text, row.ticks), row.expected) << row.text;
}

TEST(StolenTime, OfThisMachineDoesNotGoBack) {
  RealFiles files;
  const Milliseconds before = stolen_time(files);
  EXPECT_GE(before, Milliseconds(0));
  EXPECT_GE(stolen_time(files), before);
}

}  // namespace
}  // namespace slipway::sys
