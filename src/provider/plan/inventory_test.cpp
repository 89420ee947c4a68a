#include "provider/plan/inventory.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::provider::plan {
namespace {

class InventoryTest : public testing::Test {
 protected:
  Result<std::vector<Item>> list(const std::string& kind) {
    ++listings[kind];
    std::vector<Item> items;
    for (const std::string& name : in_account) items.push_back({.kind = kind, .name = name, .id = "id-" + name});
    return items;
  }
  bool finds(const std::string& name) { return inventory.look_up(test.context(), "vpc", name).value().has_value(); }

  testing_support::TestContext test;
  std::vector<std::string> in_account = {"a", "b"};
  std::map<std::string, int> listings;
  Inventory inventory{
      {"vpc", "subnet"}, Milliseconds(60'000), [this](const sys::Context&, const std::string& kind) { return list(kind); }};
};

TEST_F(InventoryTest, OneListingServesManyLookUps) {
  EXPECT_TRUE(finds("a") && finds("b"));
  EXPECT_FALSE(finds("c"));
  EXPECT_EQ(listings["vpc"], 1);
  EXPECT_FALSE(finds("c")) << "may have been created by a call without an answer";
  EXPECT_EQ(listings["vpc"], 2);
  EXPECT_EQ(listings["subnet"], 0);
}

TEST_F(InventoryTest, ListingsMayMissForAMinuteWhatWasCreated) {
  EXPECT_FALSE(finds("new"));
  inventory.add(test.context(), {.kind = "vpc", .name = "new", .id = "vpc-1"});
  EXPECT_TRUE(finds("new")) << "although the account does not list it";
  EXPECT_EQ(inventory.id_of(test.context(), "vpc/new").value(), "vpc-1");
  test.clock.wait(test.clock.steady() + Milliseconds(61'000), {}, nullptr, 0);
  EXPECT_FALSE(finds("new"));
}

TEST_F(InventoryTest, ReferencesAreNamesOrIds) {
  EXPECT_EQ(inventory.id_of(test.context(), "id:vpc-9").value(), "vpc-9");
  EXPECT_EQ(inventory.id_of(test.context(), "vpc/a").value(), "id-a");
  EXPECT_EQ(inventory.id_of(test.context(), "vpc/x").error().code(), Code::not_found);
}

TEST_F(InventoryTest, ForgetsAfterAFailure) {
  EXPECT_TRUE(finds("a"));
  inventory.forget("vpc");
  EXPECT_TRUE(finds("b"));
  EXPECT_EQ(listings["vpc"], 2);
  EXPECT_FALSE(inventory.created(test.context(), "vpc", error(Code::unavailable, "lost")).ok());
  EXPECT_TRUE(finds("b"));
  EXPECT_EQ(listings["vpc"], 3);
  EXPECT_FALSE(inventory.removed({.kind = "vpc", .name = "b"}, error(Code::unavailable, "lost")).ok());
  EXPECT_TRUE(finds("b"));
  EXPECT_EQ(listings["vpc"], 4);
}

}  // namespace
}  // namespace slipway::provider::plan
