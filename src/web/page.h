// The web page: its files, and the protection of a server that browsers use. Pure.
//
//   if (Result<> site = web::check_site(request, {"localhost"}); !site.ok()) return text_answer(403, ...);
//   if (auto file = web::page_answer(request)) return *file;
#pragma once

#include "net/http_server.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::web {

// The page may load and connect to nothing but the server that it came from, and contains no script or style in HTML.
inline constexpr std::string_view content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The answer to GET / or to a request for another file of the page; nullopt if the path is none of the page. Texts are sent
// compressed (gzip), whatever the client accepts. Names of files under /assets/ change with their content.
std::optional<net::ServerAnswer> page_answer(const net::ServerRequest& request);

// Refuses what a browser sends for a page of another site: a request with the header Origin of another server.
//
//   own_names  if not empty, the header Host must be one of these names or a loopback address: a page of another site whose
//              name suddenly means this machine (DNS rebinding) has another Host. For servers that ask for no token
//   errors     denied
Result<> check_site(const net::ServerRequest& request, const std::vector<std::string>& own_names);

}  // namespace slipway::web
