// Any bytes: parsing terminates, and a parsed document is written and parsed to the same document.
#include "base/check.h"
#include "base/yaml.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = parse_yaml_documents(text, "fuzz");
  if (!documents.ok()) return 0;
  for (const YamlDocument& document : documents.value()) {
    const std::string written = emit_yaml(document.value);
    const auto again = parse_yaml(written, "again");
    CHECK(again.ok());
    CHECK(again->value == document.value);
    document.place_of(text.substr(0, 100));
  }
  return 0;
}
