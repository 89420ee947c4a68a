#include "web/page.h"

#include "base/text.h"
#include "data/data.h"
#include "net/url.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::web {

namespace {

struct Type {
  std::string_view suffix, type;
};
constexpr std::array types = {
    Type{".html", "text/html; charset=utf-8"},
    Type{".js", "text/javascript; charset=utf-8"},
    Type{".css", "text/css; charset=utf-8"},
    Type{".svg", "image/svg+xml"},
    Type{".woff2", "font/woff2"},
};

std::string_view type_of(std::string_view path) {
  const auto found = std::ranges::find_if(types, [&](const Type& each) { return path.ends_with(each.suffix); });
  return found == types.end() ? "application/octet-stream" : found->type;
}

// "localhost" of "localhost:8090", "::1" of "[::1]:8090"
std::string_view name_in(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

std::optional<net::ServerAnswer> page_answer(const net::ServerRequest& request) {
  if (request.method != "GET" || !request.path.starts_with('/')) return std::nullopt;
  const std::string path = request.path == "/" ? "index.html" : request.path.substr(1);
  const auto files = data::page();
  const std::string compressed = path + ".gz";
  const auto found =
      std::ranges::find_if(files, [&](const data::File& file) { return file.path == path || file.path == compressed; });
  if (found == files.end()) return std::nullopt;
  net::ServerAnswer answer = net::text_answer(200, std::string(found->content), type_of(path));
  if (found->path == compressed) answer.headers.push_back({"Content-Encoding", "gzip"});
  const bool is_fixed = path.starts_with("assets/");
  answer.headers.push_back({"Cache-Control", is_fixed ? "public, max-age=31536000, immutable" : "no-cache"});
  answer.headers.push_back({"Content-Security-Policy", std::string(content_security_policy)});
  answer.headers.push_back({"X-Content-Type-Options", "nosniff"});
  answer.headers.push_back({"Referrer-Policy", "no-referrer"});
  answer.headers.push_back({"Cross-Origin-Opener-Policy", "same-origin"});
  answer.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
  return answer;
}

Result<> check_site(const net::ServerRequest& request, const std::vector<std::string>& own_names) {
  const std::string_view host = request.header("Host").value_or("");
  if (const auto origin = request.header("Origin")) {
    const bool is_own = *origin == fmt::format("http://{}", host) || *origin == fmt::format("https://{}", host);
    if (!is_own) return error(Code::denied, "the request was sent by a page of another site ({})", to_utf8(*origin));
  }
  const std::string_view name = name_in(host);
  const bool is_known = own_names.empty() || net::is_loopback(name) || std::ranges::find(own_names, name) != own_names.end();
  if (!is_known) return error(Code::denied, "this server has no name '{}' (header Host)", to_utf8(name));
  return Ok{};
}

}  // namespace slipway::web
