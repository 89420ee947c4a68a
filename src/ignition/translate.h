// Translates configs between versions of the spec.
#pragma once

#include "base/findings.h"
#include "base/result.h"
#include "ignition/types.h"

#include <string>
#include <vector>

namespace slipway::ignition {

// Something in a config that requires a version of the spec.
struct Feature {
  std::string field;  // "storage.luks"
  std::string what;   // "this field", "a source of scheme gs"
  Version since = oldest_version;
  Severity in_older = Severity::error;  // how Ignition reports it in a config of an older version

  bool operator==(const Feature&) const = default;
};

// All features of the config that require a newer version than this.
std::vector<Feature> features_after(const Config& config, Version version);

// Returns a config of another version with the same effect. Translation to a newer version is always possible. Translation to an
// older version never drops anything: if a field cannot be expressed, that is an error.
//
//   errors  invalid: lists every field that the older version cannot express, one per line
Result<Config> translate(const Config& config, Version target);

// The same for a target that is not older than the config. Aborts if it is older.
Config raise(Config config, Version target);

}  // namespace slipway::ignition
