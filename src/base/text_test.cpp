#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Text, SplitsJoinsTrims) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" "), "");
  EXPECT_EQ(to_lower("WWW-Authenticate É"), "www-authenticate É");
}

TEST(Text, KnowsUtf8) {
  struct Case {
    const char* text;
    const char* repaired;
  };
  const Case cases[] = {
      {"é€🚢", "é€🚢"},
      {"\xff", "\xef\xbf\xbd"},
      {"a\xc3", "a\xef\xbf\xbd"},
      {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                                  // overlong
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                  // surrogate
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // above U+10FFFF
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_utf8(c.text), c.repaired);
    EXPECT_EQ(is_utf8(c.text), c.text == std::string_view(c.repaired));
    EXPECT_TRUE(is_utf8(c.repaired));
  }
}

TEST(Text, SizesAreForPeople) {
  struct Case {
    unsigned long long bytes;
    const char* text;
  };
  for (const Case& c :
       {Case{0, "0 B"}, Case{999, "999 B"}, Case{1000, "1.0 kB"}, Case{9'949, "9.9 kB"}, Case{9'950, "10 kB"},
        Case{999'499, "999 kB"}, Case{999'500, "1.0 MB"}, Case{139'000'000, "139 MB"}, Case{1'500'000'000, "1.5 GB"}}) {
    EXPECT_EQ(human_size(c.bytes), c.text);
  }
}

TEST(Text, QuotesForTheShell) {
  EXPECT_EQ(shell_quote({"echo", "a b", "it's", "", "x=1", "$HOME"}), "echo 'a b' 'it'\\''s' '' x=1 '$HOME'");
}

}  // namespace
}  // namespace slipway
