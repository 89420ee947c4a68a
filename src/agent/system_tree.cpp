#include "agent/system_tree.h"

#include "base/number.h"
#include "base/text.h"

namespace slipway::agent {

std::string SystemTree::bytes(const std::string& path) const {
  Result<std::string> content = files_.read(root_ + path);
  return content.ok() ? std::move(content).value() : "";
}

std::string SystemTree::text(const std::string& path) const { return to_utf8(trim(bytes(path))); }

unsigned long long SystemTree::number(const std::string& path) const {
  return parse_number<unsigned long long>(text(path)).value_or(0);
}

bool SystemTree::has(const std::string& path) const {
  const Result<std::optional<sys::FileInfo>> info = files_.info(root_ + path);
  return info.ok() && info.value().has_value();
}

std::vector<std::string> SystemTree::names(const std::string& path) const {
  Result<std::vector<std::string>> found = files_.list(root_ + path);
  return found.ok() ? std::move(found).value() : std::vector<std::string>();
}

std::string SystemTree::variable(const std::string& path, std::string_view name) const {
  const std::string content = text(path);
  for (const std::string_view line : split(content, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return std::string(trim(line.substr(name.size() + 1)));
    }
  }
  return "";
}

}  // namespace slipway::agent
