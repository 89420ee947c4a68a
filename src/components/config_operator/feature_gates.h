// The status of a FeatureGate: which gates a version of the payload enables for a feature set.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::config_operator {

// The number before the first dot: 4 of "4.18", "v4.18.0-rc.1". errors: invalid: it starts with no number
Result<int> major_version(std::string_view version);

// The FeatureGate with the gates of its feature set in its status, which every other render command and operator reads.
//
//   gate     the user's object; annotations, spec and name are kept
//   lists    FeatureGate objects of the payload, one a profile and feature set, as github.com/openshift/api has them. Those that
//            name the major version count; where none does, as in a release that counts its versions by itself, all
//   version  of the payload, as it is written into the status
//   returns  with the gates sorted by name; CustomNoUpgrade changes the default ones by its lists, and keeps a status that has
//            this version; the annotation that includes it for the profile is added but for CustomNoUpgrade
//   errors   invalid: it is annotated for other profiles only, or there is no list for its feature set and the profile
Result<Json> with_gates(const Json& gate, const std::vector<Json>& lists, std::string_view version, std::string_view profile);

}  // namespace slipway::components::config_operator
