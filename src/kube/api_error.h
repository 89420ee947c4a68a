// What a refusal of the server means to slipway; shared by the client and the fake of the tests.
#pragma once

#include "base/result.h"

#include <string_view>

namespace slipway::kube {

// The error of an answer with this HTTP status. path: a query is left out. words: the server's own; may be empty
Error api_error(std::string_view method, std::string_view path, int status, std::string_view words);

}  // namespace slipway::kube
