#include "base/flags.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

const std::vector<Flag> table = {{.name = "image", .required = true},
                                 {.name = "dir", .fallback = "/usr", .letter = 'd'},
                                 {.name = "url", .repeats = true},
                                 {.name = "strict", .is_switch = true}};

TEST(Flags, TakeBothFormsAndShortNames) {
  const auto flags = parse_flags("p", table, {"--image=a=b", "-d", "/x", "--url", "1", "-url=2", "--strict"});
  ASSERT_TRUE(flags.ok()) << flags.error().message();
  EXPECT_EQ(flags->text("image"), "a=b");
  EXPECT_EQ(flags->text("dir"), "/x");
  EXPECT_EQ(flags->texts("url"), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(flags->is_set("strict"));
}

TEST(Flags, HaveFallbacks) {
  const auto flags = parse_flags("p", table, {"--image", "i"});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->text("dir"), "/usr");
  EXPECT_FALSE(flags->is_given("dir"));
  EXPECT_FALSE(flags->is_set("strict"));
  EXPECT_TRUE(flags->texts("url").empty());
}

TEST(Flags, TellEverythingThatIsWrong) {
  const auto flags = parse_flags("p render", table, {"word", "--nope", "x", "--strict=maybe", "--dir"});
  ASSERT_FALSE(flags.ok());
  EXPECT_EQ(
      flags.error().message(),
      "p render: 'word' is not a flag; unknown flag --nope; --strict must be true or false, got 'maybe'; --dir requires a value; "
      "--image is missing");
}

}  // namespace
}  // namespace slipway
