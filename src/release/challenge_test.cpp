#include "release/challenge.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

TEST(ParseChallenges, ReadsWhatRegistriesSend) {
  struct Case {
    const char* header;
    std::vector<Challenge> challenges;
  };
  const Case cases[] = {
      {"", {}},
      {"Basic realm=\"Registry Realm\"", {{"basic", {{"realm", "Registry Realm"}}}}},
      {"Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:a/b:pull,push\"",
       {{"bearer", {{"realm", "https://a/t"}, {"service", "s"}, {"scope", "repository:a/b:pull,push"}}}}},
      {"Bearer realm=x , service = y, Basic realm=\"z\"",
       {{"bearer", {{"realm", "x"}, {"service", "y"}}}, {"basic", {{"realm", "z"}}}}},
      {"BASIC Realm=\"a \\\"b\\\" \\\\\"", {{"basic", {{"realm", "a \"b\" \\"}}}}},
      {"Negotiate, Basic realm=x", {{"negotiate", {}}, {"basic", {{"realm", "x"}}}}},
      {"Bearer realm=\"never ends", {{"bearer", {{"realm", "never ends"}}}}},
      {"realm=\"no scheme\"", {}},
      {",,, = \"", {}},
  };
  for (const Case& c : cases) EXPECT_EQ(parse_challenges(c.header), c.challenges) << c.header;
}

}  // namespace
}  // namespace slipway::release
