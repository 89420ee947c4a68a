#include "net/http.h"

#include "base/text.h"

namespace slipway::net {

std::optional<std::string_view> find_header(const std::vector<Header>& headers, std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const Header& header : headers) {
    if (to_lower(header.name) == wanted) return header.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Answer::header(std::string_view name) const { return find_header(headers, name); }

}  // namespace slipway::net
