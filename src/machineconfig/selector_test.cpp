#include "machineconfig/selector.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

TEST(Selects, AsKubernetesDoes) {
  const struct {
    const char* selector;
    bool selects;
  } cases[] = {
      {"{}", true},
      {"null", false},
      {"{matchLabels: {app: a}}", true},
      {"{matchLabels: {app: b}}", false},
      {"{matchLabels: {app: a, more: ''}}", false},
      {"{matchExpressions: [{key: app, operator: In, values: [b, a]}]}", true},
      {"{matchExpressions: [{key: app, operator: NotIn, values: [a]}]}", false},
      {"{matchExpressions: [{key: other, operator: NotIn, values: [a]}]}", true},
      {"{matchExpressions: [{key: app, operator: Exists}]}", true},
      {"{matchExpressions: [{key: app, operator: DoesNotExist}]}", false},
      {"{matchExpressions: [{key: other, operator: DoesNotExist}]}", true},
      {"{matchExpressions: [{key: app, operator: Gt, values: ['1']}]}", false},
      {"{matchLabels: {app: a}, matchExpressions: [{key: other, operator: Exists}]}", false},
  };
  const JsonObject labels = {{"app", "a"}};
  for (const auto& each : cases) {
    const Result<YamlDocument> selector = parse_yaml(each.selector, "selector");
    ASSERT_TRUE(selector.ok()) << each.selector;
    EXPECT_EQ(selects(&selector->value, labels), each.selects) << each.selector;
  }
  EXPECT_FALSE(selects(nullptr, labels));
}

}  // namespace
}  // namespace slipway::machineconfig
