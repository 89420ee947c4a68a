#include "assets/ignition/size_report.h"

#include "assets/ignition/pointer.h"
#include "ignition/make.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

ignition::Config sample() {
  ignition::Config config{.ignition = {.version = ignition::Version::v3_2}};
  ignition::put(config, ignition::make_file("/small", "a", 0600));
  ignition::put(config, ignition::make_file("/large", std::string(5000, 'x'), 0600));
  ignition::put(config, ignition::make_unit("middle.service", std::string(500, 'x'), true));
  return config;
}

TEST(SizeReport, ListsTheLargestFirstAndMissesNothing) {
  const std::vector<SizedEntry> sizes = sized_entries(sample());
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[0].name, "/large");
  EXPECT_EQ(sizes[1].name, "middle.service");
  EXPECT_EQ(sizes[2].name, "/small");
  std::size_t sum = 0;
  for (const SizedEntry& entry : sizes) sum += entry.bytes;
  const std::size_t whole = ignition_text(sample()).size();
  EXPECT_LT(whole, sum + 60);  // the JSON around the lists
  EXPECT_GT(whole + 60, sum);
}

TEST(SizeReport, IsATableOfSoManyRows) {
  const std::string text = size_report(sample(), 2);
  EXPECT_NE(text.find("100 %  total, 2 files and 1 units\n"), std::string::npos) << text;
  EXPECT_NE(text.find("88 %  /large\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("/small"), std::string::npos) << text;
  EXPECT_EQ(size_report({}).find('\n'), size_report({}).size() - 1);
}

}  // namespace
}  // namespace slipway::assets
