#include "service/multipart.h"

#include "base/text.h"

#include <fmt/core.h>

#include <string>

namespace slipway::service {

namespace {

// The value of a parameter of a header: boundary=x, name="upfile".
std::string_view parameter(std::string_view header, std::string_view name) {
  for (const std::string_view piece : split(header, ';')) {
    const std::string_view part = trim(piece);
    if (!part.starts_with(name) || part.size() <= name.size() || part[name.size()] != '=') continue;
    std::string_view value = part.substr(name.size() + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return {};
}

std::string_view name_of_part(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    if (to_lower(line.substr(0, line.find(':'))) == "content-disposition")
      return parameter(line.substr(line.find(':') + 1), "name");
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 2);
  }
  return {};
}

}  // namespace

Result<std::string_view> part_of(std::string_view content_type, std::string_view body, std::string_view name) {
  const std::string_view boundary = parameter(content_type, "boundary");
  if (!content_type.starts_with("multipart/form-data") || boundary.empty() || boundary.size() > 70) {
    return error(Code::invalid, "the body must be of type multipart/form-data with a boundary");
  }
  const std::string delimiter = fmt::format("\r\n--{}", boundary);
  if (!body.starts_with(delimiter.substr(2))) return error(Code::invalid, "the body does not begin with its boundary");
  body.remove_prefix(delimiter.size() - 2);
  while (body.starts_with("\r\n")) {
    body.remove_prefix(2);
    const std::size_t head_end = body.find("\r\n\r\n");
    const std::size_t end = body.find(delimiter, head_end == std::string_view::npos ? 0 : head_end);
    if (head_end == std::string_view::npos || end == std::string_view::npos || end < head_end) {
      return error(Code::invalid, "a part of the body does not end with the boundary");
    }
    const std::size_t begin = std::min(head_end + 4, end);
    if (name_of_part(body.substr(0, head_end)) == name) return body.substr(begin, end - begin);
    body.remove_prefix(end + delimiter.size());
  }
  return error(Code::invalid, "the body has no part '{}'", name);
}

}  // namespace slipway::service
