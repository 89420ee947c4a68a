#include "kube/contains.h"

#include <gtest/gtest.h>

namespace slipway::kube {
namespace {

TEST(FirstDifference, LooksAtWhatIsWantedOnly) {
  struct Case {
    const char* wanted;
    const char* live;
    const char* difference;  // "": none
  };
  const Case cases[] = {
      {R"({"spec":{"a":1}})", R"({"spec":{"a":1,"b":2}})", ""},
      {R"({"spec":{"a":1}})", R"({"spec":{"a":2}})", "spec.a"},
      {R"({"spec":{"a":1}})", R"({})", "spec"},
      {R"({"spec":{"a":{}}})", R"({"spec":{}})", ""},
      {R"({"spec":{"a":null,"b":[]}})", R"({})", ""},
      {R"({"spec":{"cpu":1}})", R"({"spec":{"cpu":"1"}})", ""},
      {R"({"spec":{"l":[{"a":1}]}})", R"({"spec":{"l":[{"a":1,"b":2}]}})", ""},
      {R"({"spec":{"l":[{"a":1}]}})", R"({"spec":{"l":[{"a":1},{"a":2}]}})", "spec.l"},
      {R"({"spec":{"l":[1,2]}})", R"({"spec":{"l":[1,3]}})", "spec.l[1]"},
      {R"({"spec":{"a":"x"}})", R"({"spec":{"a":{"b":"x"}}})", "spec.a"},
      {R"({"status":{"a":1}})", R"({"status":{"a":2}})", ""},
      {R"({"metadata":{"name":"n","labels":{"a":"b"}}})", R"({"metadata":{"labels":{"a":"c"}}})", "metadata.labels.a"},
      {R"({"metadata":{"uid":"x"}})", R"({"metadata":{"uid":"y"}})", ""},
      {R"({"kind":"Secret","stringData":{"k":"v"}})", R"({"data":{"k":"dg=="}})", ""},
      {R"({"kind":"Secret","stringData":{"k":"w"}})", R"({"data":{"k":"dg=="}})", "data.k"},
  };
  for (const Case& c : cases) {
    const auto difference = first_difference(parse_json(c.wanted, "wanted").value(), parse_json(c.live, "live").value());
    EXPECT_EQ(difference.value_or(""), c.difference) << c.wanted << " " << c.live;
  }
}

}  // namespace
}  // namespace slipway::kube
