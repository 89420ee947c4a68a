#include "release/semantic_version.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

TEST(SemanticVersion, OrderIsThatOfSemver) {
  const char* const in_order[] = {"0.1.0-alpha", "0.1.0-alpha.1", "0.1.0-alpha.beta", "0.1.0-rc.2", "0.1.0-rc.11", "0.1.0",
                                  "0.1.1",       "0.2.0",         "v1.0.0",           "10.0.0"};
  for (std::size_t i = 0; i < std::size(in_order); ++i) {
    for (std::size_t j = 0; j < std::size(in_order); ++j) {
      const SemanticVersion a = parse_semantic_version(in_order[i]).value(), b = parse_semantic_version(in_order[j]).value();
      EXPECT_EQ(a <=> b, i <=> j) << in_order[i] << " " << in_order[j];
    }
  }
  EXPECT_EQ(parse_semantic_version("1.2.3+a").value(), parse_semantic_version("v1.2.3+b").value());
}

TEST(SemanticVersion, OtherTextsAreRefused) {
  for (const char* text : {"", "1", "1.2", "1.2.3.4", "1.2.x", "1.-2.3", "1.2.3-", "latest"}) {
    EXPECT_EQ(parse_semantic_version(text).error().code(), Code::invalid) << text;
  }
}

}  // namespace
}  // namespace slipway::release
