// Converts deprecated fields of platforms. Private to the conversions.
#pragma once

#include "config/document.h"

namespace slipway::config {

// Records that the value of `newer` comes from the deprecated field `older`. Findings about `newer` then name the place and path
// of `older`.
void record_conversion(Document& document, const std::string& newer, const std::string& older);

// Converts the fields of the platform. Does nothing unless the document has exactly one platform.
void convert_platform(Document& document);

// Makes one vCenter and one failure domain from the flat fields of releases before 4.13.
void convert_vsphere(Document& document, JsonObject& section);

}  // namespace slipway::config
