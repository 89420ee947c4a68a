#include "components/runtimecfg/departure.h"

#include "base/text.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::runtimecfg {
namespace {

using testing_support::MemoryFiles;
using testing_support::TestContext;

net::IpAddress ip(std::string_view text) { return net::parse_ip(text).value(); }

TEST(LeavingRules, DropNewConnectionsToTheAddressForTwoSeconds) {
  const std::string v4 = leaving_rules("API", ip("10.97.77.5"));
  for (const char* part : {"table ip slipway-leaving-api {", "type ipv4_addr\n", "elements = { 10.97.77.5 timeout 2s }",
                           "ip daddr @leaving tcp flags & (syn | ack) == syn drop"}) {
    EXPECT_NE(v4.find(part), std::string::npos) << part << " in:\n" << v4;
  }
  EXPECT_EQ(v4.find(no_leaving_rules("API", ip("10.97.77.5"))), 0u);
  const std::string v6 = leaving_rules("ingress", ip("fd00::7"));
  for (const char* part : {"table ip6 slipway-leaving-ingress {", "type ipv6_addr\n", "{ fd00::7 timeout 2s }", "ip6 daddr"}) {
    EXPECT_NE(v6.find(part), std::string::npos) << part << " in:\n" << v6;
  }
}

// A machine that holds the address until `take_over` after the farewell. Records what happens when.
class DepartureTest : public testing::Test {
 protected:
  void note(std::string what) {
    journal.push_back(fmt::format("{} {} ({})", (test.clock.steady() - begin).count(), what,
                                  trim(files.read("/run/vrrp/proxy").value())));
  }
  void leave() { EXPECT_TRUE(departure.leave(test.context(), lowest_priority_change).ok()); }

  TestContext test;
  MemoryFiles files;
  bool is_held = true;
  std::optional<Milliseconds> take_over = Milliseconds(300);
  std::optional<SteadyTime> gone_at;
  bool has_nft = true;
  std::vector<std::string> journal;
  SteadyTime begin = test.clock.steady();
  Departure departure{files,
                      {.name = "API",
                       .track_file = "/run/vrrp/proxy",
                       .holds_address = [this]() -> Result<bool> {
                         return is_held && !(gone_at && test.clock.steady() >= *gone_at);
                       },
                       .drop_new_connections = [this](const sys::Context& context, bool drop) -> Result<> {
                         EXPECT_FALSE(context.stop.stop_requested());
                         note(drop ? "drop" : "accept");
                         return has_nft ? Result<>(Ok{}) : error(Code::unavailable, "nft: not supported");
                       },
                       .say_farewell = [this]() -> Result<> {
                         note("farewell");
                         if (take_over) gone_at = test.clock.steady() + *take_over;
                         return Ok{};
                       }}};

  void SetUp() override { ASSERT_TRUE(files.write("/run/vrrp/proxy", "40\n", 0644).ok()); }
};

TEST_F(DepartureTest, EndsCallsBeforeTheAddressMoves) {
  test.stop.request_stop();
  leave();
  EXPECT_EQ(journal, (std::vector<std::string>{"0 drop (40)", "500 farewell (-100)", "800 accept (-100)"}));
}

TEST_F(DepartureTest, KeepsTheAddressWithinASecondIfNoOtherMachineTakesIt) {
  take_over = std::nullopt;
  leave();
  EXPECT_EQ(journal, (std::vector<std::string>{"0 drop (40)", "500 farewell (-100)", "950 accept (-100)"}));
}

TEST_F(DepartureTest, DoesNotWaitWithoutTheAddress) {
  is_held = false;
  leave();
  EXPECT_EQ(journal, std::vector<std::string>{});
  EXPECT_EQ(files.read("/run/vrrp/proxy").value(), "-100\n");
}

TEST_F(DepartureTest, DoesNotRaiseThePriorityOfAMachineThatMustNotHaveTheAddress) {
  is_held = false;
  ASSERT_TRUE(files.write("/run/vrrp/proxy", "-254\n", 0644).ok());
  leave();
  EXPECT_EQ(files.read("/run/vrrp/proxy").value(), "-254\n");
}

TEST_F(DepartureTest, TheAddressLeavesAlsoWithoutTheRules) {
  has_nft = false;
  leave();
  EXPECT_EQ(journal.size(), 3u);
  EXPECT_EQ(files.read("/run/vrrp/proxy").value(), "-100\n");
  EXPECT_NE(test.logged().front().find("warning: nft: not supported"), std::string::npos) << test.logged().front();
}

}  // namespace
}  // namespace slipway::components::runtimecfg
