#include "components/router/sessions.h"

#include "base/text.h"

namespace slipway::components::router {

namespace {

// The same names as in haproxy's configuration. GLOBAL is haproxy's name for its socket.
constexpr std::string_view command_frontend = "GLOBAL", own_tls_backend = "own_tls";

// "public" of "frontend=public (id=2 mode=http), ...".
std::string_view name_in(std::string_view line, std::string_view key) {
  line.remove_prefix(key.size());
  return line.substr(0, line.find(' '));
}

// The address of "... addr=10.0.0.5:443", which haproxy writes without brackets for IPv6, too. Sockets of other families have
// none.
bool may_answer(std::string_view line, const std::function<bool(const net::IpAddress&)>& is_here) {
  constexpr std::string_view key = " addr=";
  const std::size_t place = line.rfind(key);
  if (place == std::string_view::npos) return true;
  const std::string_view text = line.substr(place + key.size());
  const Result<net::IpAddress> address = net::parse_ip(text.substr(0, text.rfind(':')));
  return !address.ok() || is_here(address.value());
}

}  // namespace

int sessions_in_use(std::string_view text, const std::function<bool(const net::IpAddress&)>& is_here) {
  constexpr std::string_view frontend = "frontend=", backend = "backend=";
  int count = 0;
  bool may_count = false;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.starts_with(frontend)) may_count = name_in(line, frontend) != command_frontend && may_answer(line, is_here);
    if (!line.starts_with(backend)) continue;
    if (may_count && name_in(line, backend) != own_tls_backend) ++count;
    may_count = false;
  }
  return count;
}

}  // namespace slipway::components::router
