// Values of options that may be secrets, such as a URL with a token: all users of a host can read the command lines of its
// programs.
#pragma once

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::cli {

// The value; for "@FILE", the content of the file without the white space around it.
//
//   errors  invalid: the file is empty or has more than one line; those of the file
Result<std::string> value_or_file(sys::Files& files, std::string_view option, const std::string& value);

}  // namespace slipway::cli
