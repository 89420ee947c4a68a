#include "kube/types.h"

#include <gtest/gtest.h>

namespace slipway::kube {
namespace {

TEST(FindType, FindsATypeByApiVersionAndKind) {
  for (const ResourceType* type : {&types::pods, &types::deployments, &types::networks, &types::network_settings, &types::routes,
                                   &types::kubelet_configs, &types::admission_policies}) {
    const ResourceType* found = find_type({{"apiVersion", type->api_version()}, {"kind", type->kind}});
    ASSERT_NE(found, nullptr) << type->plural;
    EXPECT_EQ(*found, *type) << type->plural;
  }
}

TEST(FindType, IsNullForOtherTypes) {
  EXPECT_EQ(find_type({{"apiVersion", "v2"}, {"kind", "Pod"}}), nullptr);
  EXPECT_EQ(find_type({{"apiVersion", "example.com/v1"}, {"kind", "Network"}}), nullptr);
  EXPECT_EQ(find_type({{"kind", "Pod"}}), nullptr);
  EXPECT_EQ(find_type(JsonObject()), nullptr);
}

}  // namespace
}  // namespace slipway::kube
