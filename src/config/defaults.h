// Functions that the steps of the defaults share. Private to the defaults.
#pragma once

#include "config/document.h"
#include "config/schema/schema.h"
#include "net/ip.h"

namespace slipway::config {

// Whether the value is a zero value of Go (null, "", 0, false, []), which counts as not given.
bool is_empty(const Json& value);

// Sets a field that is not given.
void fill(JsonObject& object, std::string_view name, Json value);

// Sets the fallbacks of the schema in all existing objects. Skips the platform sections of pools (see effective_pool).
void fill_fallbacks(JsonObject& object, Fields fields);

// Sets the defaults of a platform's section that depend on the rest of the document.
void fill_platform(Document& document, std::string_view platform);

}  // namespace slipway::config
