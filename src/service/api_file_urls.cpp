// URLs that open one file of a cluster for a short time.
#include "base/text.h"
#include "service/api_parts.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr Milliseconds life_of_file_token = std::chrono::minutes(10);

// A URL that opens one file for ten minutes, for programs that send no headers.
Answer file_url(Api& api, const Call& call, std::string_view route) {
  const std::string name = call["file_name"];
  if (!TRY(api.core.file(call.target.cluster, name))) return missing_file(name);
  std::string url =
      fmt::format("{}{}/clusters/{}/downloads/{}?file_name={}", api.options.url, api_prefix, call.target.cluster, route, name);
  if (!api.options.authenticates) return json_answer(200, {{"url", url}});
  TokenRecord spec{.kind = TokenKind::file, .cluster = call.target.cluster, .file = name};
  std::string token;
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto cluster = TRY(cluster_of(edit.world(), call.target.cluster));
    for (const auto& [id, old] : Table<TokenRecord>(edit.world().tokens)) {
      if (old->kind == TokenKind::file && old->expires <= edit.now()) edit.remove(Kind::token, id);
    }
    spec.expires = edit.now() + life_of_file_token;
    token = TRY(issue_token(edit, api.environment.random, spec));
    edit.add(event_of(*cluster, "file_url_made", EventSeverity::info, fmt::format("a URL for {} was made", name)));
    return Ok{};
  }));
  return json_answer(200, {{"url", fmt::format("{}&api_key={}", url, token)}, {"expires_at", to_rfc3339(spec.expires)}});
}

}  // namespace

Answer get_cluster_file_url(Api& api, const Call& call) {
  const std::string name = call["file_name"];
  if (!is_cluster_file(name)) return error(Code::not_found, "there is no file '{}'", to_utf8(name));
  return file_url(api, call, "files");
}

Answer get_credential_file_url(Api& api, const Call& call) {
  const std::string name = call["file_name"];
  if (!is_credential_file(name)) return error(Code::not_found, "there is no file '{}' with credentials", to_utf8(name));
  return file_url(api, call, "credentials");
}

}  // namespace slipway::service
