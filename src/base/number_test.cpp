#include "base/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace slipway {
namespace {

TEST(Number, OfTheWholeText) {
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<int>("007"), 7);
  EXPECT_EQ(parse_number<std::uint32_t>("ff", 16), 255u);
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "-", "0x10", "1.0", "99999999999"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
}

TEST(Number, OfAPort) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
}

TEST(Number, AtTheFront) {
  std::string_view text = "12:-3:x";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, ":-3:x");
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, ":-3:x");
  text = "99999999999 is too large";
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, "99999999999 is too large");
}

}  // namespace
}  // namespace slipway
