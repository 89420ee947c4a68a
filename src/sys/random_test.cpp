#include "sys/random.h"

#include "support/seeded_random.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::sys {
namespace {

TEST(Random, TextHasTheLengthAndTheAlphabet) {
  RealRandom random;
  const std::string text = random_text(random, 1000, "abc").value();
  EXPECT_EQ(text.size(), 1000u);
  EXPECT_EQ(text.find_first_not_of("abc"), std::string::npos);
}

TEST(Random, EveryCharacterIsAsLikely) {
  testing_support::SeededRandom random(1);
  std::map<char, int> counts;
  const std::string text = random_text(random, 30000, "0123456789").value();
  for (char c : text) ++counts[c];
  for (const auto& [character, count] : counts) EXPECT_NEAR(count, 3000, 250) << character;
}

TEST(Random, UuidsAreVersion4) {
  testing_support::SeededRandom random(7);
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random_uuid(random).value();
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
  }
}

}  // namespace
}  // namespace slipway::sys
