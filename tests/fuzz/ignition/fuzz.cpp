// Any bytes: a parsed config is written and parsed to the same config, and every operation on it terminates.
#include "base/check.h"
#include "ignition/merge.h"
#include "ignition/translate.h"
#include "ignition/validate.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto parsed = ignition::parse_text({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!parsed.ok()) return 0;
  const ignition::Config& config = parsed->config;
  const Findings findings = ignition::validate(config);
  if (parsed->findings.has_errors()) return 0;
  const Json json = ignition::to_json(config);
  const ignition::Parsed again = ignition::parse(json);
  CHECK(again.findings.empty());
  CHECK(again.config == config);
  CHECK(ignition::to_json(again.config) == json);
  CHECK(ignition::validate(again.config) == findings);
  CHECK(ignition::merge(config, {}) == config);
  CHECK(ignition::merge({}, config) == config);
  const ignition::Config twice = ignition::merge(config, config);
  CHECK(findings.has_errors() || !ignition::validate(twice).has_errors());
  for (const ignition::Version version : {ignition::oldest_version, ignition::newest_version}) {
    const auto translated = ignition::translate(config, version);
    CHECK(translated.ok() || !ignition::features_after(config, version).empty());
    if (!translated.ok()) continue;
    const ignition::Parsed read = ignition::parse(ignition::to_json(translated.value()));
    CHECK(read.findings.empty());
    CHECK(read.config == translated.value());
  }
  return 0;
}
