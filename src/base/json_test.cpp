#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace slipway {
namespace {

TEST(ParseJson, KeepsOrderAndIntegers) {
  const std::string text =
      R"({"z":1,"a":[true,null,"x\u00e9\n"],"big":18446744073709551615,"small":-9223372036854775808,"f":1.1})";
  auto value = parse_json(text, "test");
  ASSERT_TRUE(value.ok()) << value.error().message();
  EXPECT_EQ(emit_json(value.value(), JsonStyle::compact),
            "{\"z\":1,\"a\":[true,null,\"xé\\n\"],\"big\":18446744073709551615,\"small\":-9223372036854775808,\"f\":1.1}");
}

TEST(ParseJson, NamesThePlaceOfAProblem) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "f:1:1: unexpected end of the document"},
      {"{\"a\":1", "f:1:7: unexpected end of the document"},
      {"{\"a\":1,\n \"a\":2}", "f:2:4: duplicate key 'a' in one object"},
      {"{} x", "f:1:4: text after the document"},
      {"[1e999]", "f:1:7: a number that is too large"},
      {"[1,]", "f:1:4: syntax error"},
      {"\"\xff\"", "f:1:2: syntax error"},
  };
  for (const Case& c : cases) {
    auto value = parse_json(c.text, "f");
    ASSERT_FALSE(value.ok()) << c.text;
    EXPECT_EQ(value.error().message(), c.message);
    EXPECT_EQ(value.error().code(), Code::invalid);
  }
}

TEST(ParseJson, LimitsDepth) {
  auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(max_document_depth), "f").ok());
  EXPECT_FALSE(parse_json(nested(max_document_depth + 1), "f").ok());
  EXPECT_FALSE(parse_json(std::string(1'000'000, '['), "f").ok());
}

TEST(EmitJson, RoundTripsEveryDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    double number;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const std::string text = emit_json(number, JsonStyle::compact);
    auto read = parse_json(text, "f");
    ASSERT_TRUE(read.ok()) << text;
    ASSERT_EQ(read.value().to_number<double>(), number) << text;
    ASSERT_TRUE(read.value().is_double()) << text;
  }
}

TEST(EmitJson, PrettyLooksLikeGo) {
  Json value = {{"kind", "Pod"}, {"list", {1, "two"}}, {"none", JsonArray()}, {"empty", JsonObject()}};
  EXPECT_EQ(emit_json(value, JsonStyle::pretty),
            "{\n  \"kind\": \"Pod\",\n  \"list\": [\n    1,\n    \"two\"\n  ],\n  \"none\": [],\n  \"empty\": {}\n}\n");
}

TEST(EmitJson, ReplacesWhatIsNotUtf8) { EXPECT_EQ(emit_json("a\xff\x01", JsonStyle::compact), "\"a\xef\xbf\xbd\\u0001\""); }

TEST(FindInJson, AbsenceIsNotAnError) {
  Json value = {{"metadata", {{"name", "etcd"}}}, {"spec", {{"tags", {1, 2}}}}};
  EXPECT_EQ(find_string(value, {"metadata", "name"}), "etcd");
  EXPECT_EQ(find_string(value, {"metadata", "name", "deeper"}), std::nullopt);
  EXPECT_EQ(find_array(value, {"spec", "tags"}).size(), 2u);
  EXPECT_TRUE(find_array(value, {"spec", "other"}).empty());
  EXPECT_EQ(require_string(value, {"spec", "tags"}).error().message(), "spec.tags: must be a string, got a list");
  EXPECT_EQ(require_string(value, {"spec", "x"}).error().message(), "spec.x: missing, must be a string");
}

TEST(ReadJson, MissingAndOtherValuesAreEmpty) {
  const Json value = {{"text", "a"},           {"number", 7}, {"large", 4'000'000'000},
                      {"list", {"a", 1, "b"}}, {"yes", true}, {"no", false}};
  EXPECT_EQ(text_of(value, {"text"}), "a");
  EXPECT_EQ(text_of(value, {"number"}), "");
  EXPECT_EQ(text_of(value, {"missing", "too"}), "");
  EXPECT_EQ(texts_of(value, {"list"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(texts_of(value, {"text"}).empty());
  EXPECT_EQ(array_of({"a", "b"}), (JsonArray{"a", "b"}));
  EXPECT_EQ(integer_of(value, {"number"}), 7);
  EXPECT_EQ(integer_of(value, {"large"}), 0);
  EXPECT_EQ(integer_of(value, {"text"}), 0);
  EXPECT_TRUE(is_true(value, {"yes"}));
  EXPECT_FALSE(is_true(value, {"no"}));
  EXPECT_FALSE(is_true(value, {"text"}));
  EXPECT_FALSE(is_true(value, {"missing"}));
}

}  // namespace
}  // namespace slipway
