#include "base/template.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Template, FillsHolesAndLeavesOtherBracesAlone) {
  const auto filled =
      fill_template("a {{ONE}}{{TWO_2}} ${ONE} {{.PodCIDR}} {{one}} {{{ONE}}} {{", "f", {{"ONE", "1"}, {"TWO_2", "{{ONE}}"}});
  ASSERT_TRUE(filled.ok()) << filled.error().message();
  EXPECT_EQ(filled.value(), "a 1{{ONE}} ${ONE} {{.PodCIDR}} {{one}} {1} {{");
}

TEST(Template, NamesEveryHoleWithoutAValue) {
  const auto filled = fill_template("{{A}} {{B}} {{C}}", "kubelet.service", {{"B", ""}});
  ASSERT_FALSE(filled.ok());
  EXPECT_EQ(filled.error().message(), "kubelet.service: no value for A, C");
}

TEST(Template, KnowsItsHoles) {
  EXPECT_EQ(template_holes("x {{B}} {{A}} {{B}} {{a}}"), (std::set<std::string, std::less<>>{"A", "B"}));
  EXPECT_TRUE(template_holes("").empty());
}

}  // namespace
}  // namespace slipway
