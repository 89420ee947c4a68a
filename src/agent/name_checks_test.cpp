#include "agent/name_checks.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

TEST(TimeSources, OfChrony) {
  EXPECT_EQ(parse_chrony_sources("MS Name/IP address         Stratum Poll Reach LastRx Last sample\n"
                                 "===============================================================================\n"
                                 "^* 192.0.2.1                     2   6   377    23   -321us[ -372us] +/-   24ms\n"
                                 "^+ 192.0.2.2                     2   6   377    23   +321us[ +372us] +/-   24ms\n"
                                 "^- fd00::1                       3   6   377    23   +321us[ +372us] +/-   24ms\n"
                                 "^? 192.0.2.4                     0   7     0     -     +0ns[   +0ns] +/-    0ns\n"
                                 "=x 192.0.2.5                     2   6   377    23   +32s[ +32s] +/-   24ms\n"
                                 "#~ PPS0                          0   4   377    11   +479ns[ +621ns] +/-  134ns\n")
                .size(),
            6u);
  EXPECT_EQ(parse_chrony_sources("^* 192.0.2.1  2 6\n^? fd00::1 2\n===\n^"),
            (std::vector<TimeSource>{{"192.0.2.1", "synced"}, {"fd00::1", "unreachable"}}));
}

TEST(TimeServers, AreNamesOrAddresses) {
  EXPECT_EQ(parse_time_servers("a.example.com, 192.0.2.1,fd00::1,,a.example.com").value(),
            (std::vector<std::string>{"a.example.com", "192.0.2.1", "fd00::1"}));
  EXPECT_TRUE(parse_time_servers("").value().empty());
  for (const char* wrong : {"-q", "a b", "a;b", "a\nb"}) EXPECT_FALSE(parse_time_servers(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace slipway::agent
