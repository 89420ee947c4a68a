#include "base/time.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Rfc3339, ReadsAndWrites) {
  struct Case {
    const char* text;
    const char* normal;
  };
  const Case cases[] = {
      {"2026-11-21T09:30:00Z", "2026-11-21T09:30:00Z"},
      {"2026-11-21T09:30:00.125Z", "2026-11-21T09:30:00.125Z"},
      {"2026-11-21t09:30:00.1259999z", "2026-11-21T09:30:00.125Z"},
      {"2026-11-21T10:30:00+01:00", "2026-11-21T09:30:00Z"},
      {"2026-11-21T00:30:00-05:30", "2026-11-21T06:00:00Z"},
      {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
      {"2024-02-29T23:59:60Z", "2024-03-01T00:00:00Z"},
  };
  for (const Case& c : cases) {
    auto time = parse_rfc3339(c.text);
    ASSERT_TRUE(time.ok()) << c.text;
    EXPECT_EQ(to_rfc3339(time.value()), c.normal);
  }
}

TEST(Rfc3339, RefusesTheRest) {
  for (const char* text :
       {"", "2026-11-21", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T09:30:00",
        "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00Zx", "-026-11-21T09:30:00Z", "2026-11-21T09:30:00+1:00",
        "2026-11-21T09:30:00+24:00", "9999-12-31T23:59:60Z", "0000-01-01T00:00:00+00:01"}) {
    EXPECT_FALSE(parse_rfc3339(text).ok()) << text;
  }
}

TEST(HumanDuration, IsShort) {
  EXPECT_EQ(human_duration(Milliseconds(85)), "85 ms");
  EXPECT_EQ(human_duration(Milliseconds(2440)), "2.4 s");
  EXPECT_EQ(human_duration(Milliseconds(59'960)), "1 min 0 s");
  EXPECT_EQ(human_duration(Seconds(200)), "3 min 20 s");
  EXPECT_EQ(human_duration(Seconds(3900)), "1 h 5 min");
}

TEST(ParseDuration, ReadsThoseOfKubernetes) {
  EXPECT_EQ(parse_duration("250ms").value(), Milliseconds(250));
  EXPECT_EQ(parse_duration("10m").value(), Milliseconds(600'000));
  EXPECT_EQ(parse_duration("1h30m5s").value(), Milliseconds(5'405'000));
  EXPECT_EQ(parse_duration("0s").value(), Milliseconds(0));
  for (const char* wrong : {"", "10", "m", "-1s", "1.5h", "10 m", "1d", "5000000000s", "10m?"}) {
    EXPECT_FALSE(parse_duration(wrong).ok()) << wrong;
  }
  EXPECT_EQ(parse_duration("10").error().message(), "'10' is not a duration like 10m or 1h30m");
}

}  // namespace
}  // namespace slipway
