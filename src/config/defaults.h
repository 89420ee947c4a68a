// What the steps of filling in have in common. Private to the defaults.
#pragma once

#include "config/document.h"
#include "config/schema.h"
#include "net/ip.h"

namespace slipway::config {

// Without content, as in Go: not given.
bool is_empty(const Json& value);

// Sets a field that is not given.
void fill(JsonObject& object, std::string_view name, Json value);

// The fallbacks of the schema's rows, in all objects that are there; pools' sections stay as they are (effective_pool).
void fill_fallbacks(JsonObject& object, Fields fields);

// What of a platform's section follows from the rest of the document.
void fill_platform(Document& document, std::string_view platform);

}  // namespace slipway::config
