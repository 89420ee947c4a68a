#include "base/yaml.h"

#include "support/arbitrary_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway {
namespace {

std::string as_json(std::string_view yaml) {
  auto document = parse_yaml(yaml, "f");
  return document.ok() ? emit_json(document.value().value, JsonStyle::compact) : document.error().message();
}

TEST(ParseYaml, ReadsScalarsAsGoDoes) {
  struct Case {
    const char* yaml;
    const char* json;
  };
  const Case cases[] = {
      {"", "null"},
      {"~", "null"},
      {"a:", R"({"a":null})"},
      {"true", "true"},
      {"yes", R"("yes")"},
      {"\"true\"", R"("true")"},
      {"'it''s'", R"("it's")"},
      {"0777", "511"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"08", "8.0"},
      {"1_000", "1000"},
      {"-12", "-12"},
      {"+3", "3"},
      {"18446744073709551615", "18446744073709551615"},
      {"1e3", "1000.0"},
      {"1.20", "1.2"},
      {".5", "0.5"},
      {"1.2.3", R"("1.2.3")"},
      {"-", "[null]"},
      {"--5", R"("--5")"},
      {"0x", R"("0x")"},
      {"0-5", R"("0-5")"},
      {"1e999", R"("1e999")"},
      {"2026-11-21", R"("2026-11-21")"},
      {R"({"a":"\ud83d\udea2 \\ud83d"})", R"({"a":"🚢 \\ud83d"})"},
      {"!!str 12", R"("12")"},
      {"!!float 12", "12.0"},
      {"!!binary aGk=", R"("hi")"},
      {"{1: a, true: b}", R"({"1":"a","true":"b"})"},
      {"a: |\n  x\n  y\n", R"({"a":"x\ny\n"})"},
      {"a: >-\n  x\n  y\n", R"({"a":"x y"})"},
      {"a: 1\r\nb: 2\r\n", R"({"a":1,"b":2})"},
      {"\xef\xbb\xbf"
       "a: 1",
       R"({"a":1})"},
      {"base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\n", R"({"base":{"x":1,"y":2},"use":{"y":3,"x":1}})"},
      {"a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}", R"({"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2}})"},
  };
  for (const Case& c : cases) EXPECT_EQ(as_json(c.yaml), c.json) << c.yaml;
}

TEST(ParseYaml, RefusesWithThePlace) {
  struct Case {
    const char* yaml;
    const char* message;
  };
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\nb: 4\n",
       "f:3:1: error: a: duplicate key, first in line 1 (remove one of them)\n"
       "f:4:1: error: b: duplicate key, first in line 2 (remove one of them)"},
      {"a:\n\t- b\n", "f:2:1: while scanning for the next token found character that cannot start any token"},
      {"a: [1, 2\nb: 3\n", "f:2:2: while parsing a flow sequence did not find expected ',' or ']'"},
      {"a: *x\n", "f:1:4: alias *x has no anchor before it"},
      {"a: &a [*a]\n", "f:1:8: alias *a has no anchor before it"},
      {"[a]: b\n", "f:1:1: a key must be a single value, not a list, a mapping or an alias"},
      {"a: !!int x\n", "f:1:4: 'x' cannot be read as tag:yaml.org,2002:int"},
      {"a: !custom {}\n", "f:1:4: unknown tag !custom"},
      {"<<: 3\n", "f:1:1: << requires a mapping or a list of mappings"},
      {"a: 1\n---\nb: 1\n", "f:3:1: a second document, but only one is allowed"},
      {"a: \"\xff\"\n", "f:1:1: invalid leading UTF-8 octet at byte 4"},
  };
  for (const Case& c : cases) EXPECT_EQ(as_json(c.yaml), c.message) << c.yaml;
}

TEST(ParseYaml, LimitsDepthAndAliases) {
  EXPECT_EQ(as_json(std::string(65, '[') + std::string(65, ']')).substr(0, 3), "[[[");
  EXPECT_EQ(as_json(std::string(66, '[') + std::string(66, ']')), "f:1:66: nested deeper than 64 levels");
  std::string laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  }
  EXPECT_NE(as_json(laughs).find("aliases make this document too large"), std::string::npos);
}

TEST(ParseYaml, KeepsThePlaceOfEveryField) {
  auto document = parse_yaml(
      "metadata:\n  name: x\n  labels:\n    a.b/c: d\nspec:\n- name: one\n  ports: [80, 443]\n- name: two\n", "a.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message();
  struct Case {
    const char* field;
    const char* place;
  };
  const Case cases[] = {
      {"", "a.yaml:1:1"},
      {"metadata.name", "a.yaml:2:3"},
      {"metadata.labels[\"a.b/c\"]", "a.yaml:4:5"},
      {"metadata.missing", "a.yaml:1:1"},
      {"spec[1].name", "a.yaml:8:3"},
      {"spec[0].ports[1]", "a.yaml:7:15"},
      {"spec[7].name", "a.yaml:5:1"},
      {"spec[", "a.yaml:5:1"},
      {"[\"", "a.yaml:1:1"},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(document.value().place_of(c.field)), c.place) << c.field;
}

TEST(ParseYamlDocuments, LeavesEmptyOnesOut) {
  auto documents = parse_yaml_documents("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n", "f");
  ASSERT_TRUE(documents.ok());
  ASSERT_EQ(documents.value().size(), 2u);
  EXPECT_EQ(documents.value()[1].place_of("b").line, 7);
}

TEST(EmitYaml, LooksLikeGo) {
  Json value = {
      {"apiVersion", "v1"},
      {"data", {{"mode", "0777"}, {"yes", "yes"}, {"empty", ""}, {"version", "1.20"}, {"sha", "1e3"}, {"date", "2026-11-21"}}},
      {"count", 3},
      {"items", {{{"name", "a: b"}}, "- x", "  lead", "it's"}},
      {"none", JsonArray()},
      {"object", JsonObject()},
      {"null", nullptr},
      {"script", "#!/bin/bash\necho hi\n"},
      {"tail", "no newline\nat the end"},
      {"tab", "a\tb"}};
  EXPECT_EQ(emit_yaml(value), R"(apiVersion: v1
data:
  mode: "0777"
  "yes": "yes"
  empty: ""
  version: "1.20"
  sha: "1e3"
  date: "2026-11-21"
count: 3
items:
- name: 'a: b'
- '- x'
- '  lead'
- it's
none: []
object: {}
"null": null
script: |
  #!/bin/bash
  echo hi
tail: |-
  no newline
  at the end
tab: "a\tb"
)");
}

TEST(EmitYaml, ReplacesWhatIsNotUtf8) { EXPECT_EQ(emit_yaml({{"a", "x\xff"}}), "a: x\xef\xbf\xbd\n"); }

TEST(EmitGoYaml, FoldsLongLinesAndLeavesVersionsPlain) {
  const std::string word(60, 'x');
  EXPECT_EQ(emit_go_yaml({{"a", word + " " + word + " y"}, {"b", "3.5.0"}, {"c", "3.5"}}),
            "a: " + word + " " + word + "\n  y\nb: 3.5.0\nc: \"3.5\"\n");
}

RC_GTEST_PROP(EmitYaml, ReadsBackAsTheSame, ()) {
  const Json value = *testing_support::arbitrary_json();
  const std::string text = *rc::gen::arbitrary<bool>() ? emit_yaml(value) : emit_go_yaml(value);
  auto read = parse_yaml(text, "f");
  RC_LOG() << text;
  RC_ASSERT(read.ok());
  RC_ASSERT(emit_json(read.value().value, JsonStyle::compact) == emit_json(value, JsonStyle::compact));
}

RC_GTEST_PROP(EmitJson, ReadsBackAsTheSame, ()) {
  const Json value = *testing_support::arbitrary_json();
  for (JsonStyle style : {JsonStyle::compact, JsonStyle::pretty}) {
    auto read = parse_json(emit_json(value, style), "f");
    RC_ASSERT(read.ok());
    RC_ASSERT(read.value() == value);
  }
}

}  // namespace
}  // namespace slipway
