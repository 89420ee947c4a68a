#include "base/findings.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Findings, AreToldInTheOrderOfTheDocument) {
  Findings findings;
  findings.error({"a.yaml", 7, 13}, "controlPlane.replicas", "must be odd, got {}", 2).hint("use 1 or 3");
  findings.warning({"a.yaml", 2, 1}, "metadata.nmae", "is not known").hint("did you mean metadata.name?");
  findings.error({}, "", "the document is empty");
  EXPECT_EQ(findings.to_text(),
            "error: the document is empty\n"
            "a.yaml:2:1: warning: metadata.nmae: is not known (did you mean metadata.name?)\n"
            "a.yaml:7:13: error: controlPlane.replicas: must be odd, got 2 (use 1 or 3)\n");
  EXPECT_EQ(findings.to_result().error().code(), Code::invalid);
}

TEST(Findings, WarningsAloneAreSuccess) {
  Findings findings;
  findings.warning({"a.yaml", 1, 1}, "x", "is not known");
  EXPECT_TRUE(findings.to_result().ok());
  EXPECT_FALSE(findings.has_errors());
}

TEST(Place, IsAsLongAsItIsKnown) {
  EXPECT_EQ(to_string(Place{"a", 1, 2}), "a:1:2");
  EXPECT_EQ(to_string(Place{"a", 0, 0}), "a");
  EXPECT_EQ(to_string(Place{"", 1, 2}), "1:2");
}

}  // namespace
}  // namespace slipway
