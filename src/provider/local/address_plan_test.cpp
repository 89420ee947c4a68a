#include "provider/local/address_plan.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(AddressPlan, GivesMachinesTheirAddresses) {
  const AddressPlan plan = parse_network("10.97.77.0/24").value();
  EXPECT_EQ(plan.gateway(), "10.97.77.1");
  EXPECT_EQ(plan.with_prefix(plan.gateway()), "10.97.77.1/24");
  EXPECT_EQ(plan.address(0), "10.97.77.10");
  EXPECT_EQ(plan.address(plan.most_machines() - 1), "10.97.77.254");
  EXPECT_EQ(AddressPlan::mac(266), "52:54:00:73:01:0a");
  EXPECT_EQ(AddressPlan::gateway_mac(), "52:54:00:73:ff:ff");
  EXPECT_EQ(parse_network("10.96.0.0/16")->address(300), "10.96.1.54");
}

TEST(AddressPlan, RefusesWhatIsNoNetwork) {
  const struct {
    std::string text, message;
  } rows[] = {
      {"", "'' is not an IPv4 network, for example 10.97.77.0/24"},
      {"10.97.77.0", "'10.97.77.0' is not an IPv4 network, for example 10.97.77.0/24"},
      {"10.97.256.0/24", "'10.97.256.0/24' is not an IPv4 network, for example 10.97.77.0/24"},
      {"10.97.77/24", "'10.97.77/24' is not an IPv4 network, for example 10.97.77.0/24"},
      {"10.97.77.0/x", "'10.97.77.0/x' is not an IPv4 network, for example 10.97.77.0/24"},
      {"10.97.77.0/29", "network 10.97.77.0/29: prefix length must be from /16 to /28"},
      {"10.97.77.5/24", "network 10.97.77.5/24: host bits are set (did you mean 10.97.77.0/24?)"},
  };
  for (const auto& row : rows) {
    const Result<AddressPlan> plan = parse_network(row.text);
    ASSERT_FALSE(plan.ok()) << row.text;
    EXPECT_EQ(plan.error().message(), row.message);
  }
}

TEST(AddressPlan, TakesTheLowestFreeNumber) {
  const AddressPlan small = parse_network("10.0.0.0/28").value();
  EXPECT_EQ(free_number(small, {}).value(), 0);
  EXPECT_EQ(free_number(small, {0, 2, 1}).value(), 3);
  EXPECT_EQ(free_number(small, {1, 2}).value(), 0);
  EXPECT_EQ(free_number(small, {0, 1, 2, 3, 4}).error().code(), Code::conflict);
}

}  // namespace
}  // namespace slipway::provider::local
