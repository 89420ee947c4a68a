#include "base/similar.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Similar, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Similar, FindsTheNearestWordOrNone) {
  const std::vector<std::string_view> known = {"baseDomain", "platform", "proxy"};
  EXPECT_EQ(similar_word("basedomian", known), "baseDomain");
  EXPECT_EQ(similar_word("porxy", known), "proxy");
  EXPECT_EQ(similar_word("network", known), "");
  EXPECT_EQ(similar_word("p", known), "");
  EXPECT_EQ(similar_word(std::string(100, 'p'), known), "");
}

}  // namespace
}  // namespace slipway
