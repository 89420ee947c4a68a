#include "cli/secret_option.h"

#include "base/text.h"

#include <fmt/core.h>

namespace slipway::cli {

Result<std::string> value_or_file(sys::Files& files, std::string_view option, const std::string& value) {
  if (!value.starts_with('@')) return value;
  const std::string path = value.substr(1);
  if (path.empty()) return error(Code::invalid, "{}: '@' must be followed by the name of a file", option);
  const std::string content = TRY(files.read(path).context(option));
  const std::string_view found = trim(content);
  if (found.empty() || found.find('\n') != std::string_view::npos)
    return error(Code::invalid, "{}: {} must have one line, which is the value", option, path);
  return std::string(found);
}

}  // namespace slipway::cli
