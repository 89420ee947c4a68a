// What the outputs of an agent's steps say. Pure. The shapes are those of the API of OpenShift's assisted-service.
#pragma once

#include "assist/model.h"
#include "base/json.h"

#include <string_view>

namespace slipway::assist {

// Whether the service keeps outputs of this step.
bool is_kept(std::string_view step_type);

// Puts the output of a step into the host: its inventory or one of its checks. Lists that are too long and texts that are no
// UTF-8 are refused. Steps without an output (install) change nothing.
//
//   errors  invalid, with all problems and their places; the host is unchanged
Result<> apply_output(Host& host, std::string_view step_type, const Json& output);

// The step failed: a check that has a result for that gets it.
void apply_failure(Host& host, std::string_view step_type, const Json& argument);

}  // namespace slipway::assist
