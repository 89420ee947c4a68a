#include "components/render/api_server_pace.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

TEST(ApiServerPace, FollowsTopologyPlatformAndServer) {
  EXPECT_EQ(api_server_pace({.platform = "None"}, true).value(), (ApiServerPace{2, 15}));
  EXPECT_EQ(api_server_pace({.platform = "None"}, false).value(), (ApiServerPace{8, 25}));
  for (const bool is_temporary : {true, false}) {
    EXPECT_EQ(api_server_pace({.platform = "AWS"}, is_temporary).value(), (ApiServerPace{70, 135}));
    EXPECT_EQ(api_server_pace({.platform = "None", .single_replica = true}, is_temporary).value(), (ApiServerPace{0, 15}));
  }
}

}  // namespace
}  // namespace slipway::components
