// Settings of a cluster, from the fields of a request. Some fields have several forms, because clients of several ages send
// them; the settings have one form of each. Pure.
#pragma once

#include "base/json.h"

#include <string_view>

namespace slipway::service {

// Brings the settings into their form.
//
//   given     the fields of the request, which have been checked (fields.h)
//   settings  those that were known, with `given` over them
//   errors    invalid: fields that contradict each other
Result<> settle_fields(JsonObject& settings, const JsonObject& given);

// Adds what a new cluster has unless the request says otherwise.
void add_defaults(JsonObject& settings, std::string_view version);

}  // namespace slipway::service
