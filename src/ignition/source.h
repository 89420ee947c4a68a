// Checks URLs that Ignition fetches. Private to the folder.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// The scheme of a URL in lower case; empty if the text does not begin with a scheme.
std::string scheme_of(std::string_view url);

// Checks a URL that Ignition is to fetch. Data URLs are decoded.
// errors: invalid: the reason, without the URL
Result<> check_source(std::string_view url);

// The same for URLs of servers, such as proxies and Tang servers. The caller checks the scheme.
Result<> check_server_url(std::string_view url);

}  // namespace slipway::ignition
