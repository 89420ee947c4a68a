// Any bytes: parsing terminates, and a parsed value is written and parsed to the same value, also by the YAML parser.
#include "base/check.h"
#include "base/json.h"
#include "base/yaml.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto value = parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!value.ok()) return 0;
  for (JsonStyle style : {JsonStyle::compact, JsonStyle::pretty}) {
    const auto again = parse_json(emit_json(value.value(), style), "again");
    CHECK(again.ok());
    CHECK(again.value() == value.value());
  }
  const auto yaml = parse_yaml(emit_yaml(value.value()), "yaml");
  CHECK(yaml.ok());
  CHECK(yaml->value == value.value());
  return 0;
}
