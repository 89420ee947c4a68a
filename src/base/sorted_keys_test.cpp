#include "base/sorted_keys.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(SortedKeys, OrdersObjectsAtAnyDepthAndNothingElse) {
  const Json value = {{"b", {3, 1, {{"d", 1}, {"c", nullptr}}}}, {"a", {{"z", ""}, {"Y", true}, {"é", 1.5}}}, {"", "x"}};
  EXPECT_EQ(emit_json(sorted_keys(value), JsonStyle::compact),
            R"({"":"x","a":{"Y":true,"z":"","é":1.5},"b":[3,1,{"c":null,"d":1}]})");
  EXPECT_EQ(sorted_keys(value), value);
  EXPECT_EQ(emit_json(sorted_keys(JsonObject()), JsonStyle::compact), "{}");
  EXPECT_EQ(sorted_keys(nullptr), Json(nullptr));
}

}  // namespace
}  // namespace slipway
