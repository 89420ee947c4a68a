// Between versions of the spec: what a config uses that came only later, and the same config for an older Ignition.
#pragma once

#include "base/findings.h"
#include "base/result.h"
#include "ignition/types.h"

#include <string>
#include <vector>

namespace slipway::ignition {

// Something in a config that came with a version of the spec.
struct Feature {
  std::string field;  // "storage.luks"
  std::string what;   // "this field", "a source of scheme gs"
  Version since = oldest_version;
  Severity in_older = Severity::error;  // what it is to Ignition in a config of an older version

  bool operator==(const Feature&) const = default;
};

// All features that came after a version.
std::vector<Feature> features_after(const Config& config, Version version);

// The same config in another version: Ignition does the same with it. Down is exact or refused, nothing is dropped; up is
// always possible.
//
//   errors  invalid: naming every field that the older version cannot express, a line each
Result<Config> translate(const Config& config, Version target);

// The same config in a version that is not older.
Config raise(Config config, Version target);

}  // namespace slipway::ignition
