// Older fields of platforms. Private to the conversions.
#pragma once

#include "config/document.h"

namespace slipway::config {

// `older` was given and stands for `newer` now: findings about the new field are about the old one's place.
void stands_for(Document& document, const std::string& newer, const std::string& older);

// Those of the document's one platform; nothing when there is not exactly one.
void convert_platform(Document& document);

// One vCenter and one failure domain from the flat fields of releases before 4.13.
void convert_vsphere(Document& document, JsonObject& section);

}  // namespace slipway::config
