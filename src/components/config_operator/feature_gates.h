// The status of a FeatureGate: which gates a version of the payload enables for a feature set.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::config_operator {

// The number before the first dot: 4 for "4.18" and "v4.18.0-rc.1". errors: invalid: it does not start with a number
Result<int> major_version(std::string_view version);

// Adds the gates of its feature set to the status of a FeatureGate. All other render commands and operators read that status.
//
//   gate     the user's object; annotations, spec and name are kept
//   lists    FeatureGate objects of the payload, one for each profile and feature set, as in github.com/openshift/api. Lists that
//            name the major version apply; if none does, as in a release with its own version numbers, all lists apply
//   version  version of the payload, for the status
//   returns  the object with gates sorted by name. CustomNoUpgrade changes the default gates by its lists, and keeps a status
//            that
//            has this version. All other feature sets get the annotation that includes the object for the profile
//   errors   invalid: it is annotated only for other profiles, or there is no list for its feature set and profile
Result<Json> with_gates(const Json& gate, const std::vector<Json>& lists, std::string_view version, std::string_view profile);

}  // namespace slipway::components::config_operator
