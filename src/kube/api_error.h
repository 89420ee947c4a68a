// Converts HTTP errors of the API server to errors of slipway. The client and the tests' fake server use it.
#pragma once

#include "base/result.h"

#include <string_view>

namespace slipway::kube {

// The error for an answer with this HTTP status. path: its query is omitted. message: the server's message, may be empty
Error api_error(std::string_view method, std::string_view path, int status, std::string_view message);

}  // namespace slipway::kube
