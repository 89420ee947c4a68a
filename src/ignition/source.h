// URLs that Ignition fetches from. Private to the folder.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// In lower case; empty when the text does not begin with a scheme.
std::string scheme_of(std::string_view url);

// errors: invalid, with what is wrong with a URL that somebody wants Ignition to fetch; data URLs are decoded to find out
Result<> check_source(std::string_view url);

// The same for URLs of servers, as proxies and Tang have; the scheme is the caller's to judge.
Result<> check_server_url(std::string_view url);

}  // namespace slipway::ignition
