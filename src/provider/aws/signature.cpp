#include "provider/aws/signature.h"

#include "base/digest.h"
#include "base/text.h"
#include "net/hmac.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

namespace slipway::provider::aws {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view last_part = "aws4_request";

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string scope_text(const SigningScope& scope, const std::string& time) {
  return fmt::format("{}/{}/{}/{}", time.substr(0, 8), scope.region, scope.service, last_part);
}

// Sorted; names without a value get an empty one.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const std::string_view member : split(query, '&')) {
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    members.emplace_back(member.substr(0, equals), equals == std::string_view::npos ? "" : member.substr(equals + 1));
  }
  std::ranges::sort(members);
  std::vector<std::string> parts;
  for (const auto& [name, value] : members) parts.push_back(fmt::format("{}={}", name, value));
  return join(parts, "&");
}

// All services except S3 encode the path once more.
std::string canonical_path(std::string_view path, const SigningScope& scope) {
  if (scope.service == "s3") return std::string(path);
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) parts.push_back(net::percent_encode(part));
  return join(parts, "/");
}

// Without blanks around it, and with single blanks inside.
std::string canonical_value(std::string_view value) {
  std::string text;
  for (const char c : trim(value)) {
    if (c != ' ' || !text.ends_with(' ')) text += c;
  }
  return text;
}

std::string signature(const CanonicalRequest& request, const Credentials& credentials, const SigningScope& scope,
                      const std::string& time) {
  std::string key = "AWS4" + credentials.secret_key.reveal();
  for (const std::string_view part :
       {std::string_view(time).substr(0, 8), std::string_view(scope.region), std::string_view(scope.service), last_part}) {
    key = net::hmac_sha256(key, part);
  }
  return to_hex(
      net::hmac_sha256(key, fmt::format("{}\n{}\n{}\n{}", algorithm, time, scope_text(scope, time), sha256_hex(request.text))));
}

}  // namespace

std::string to_basic_time(WallTime time) {
  std::string text = to_rfc3339(time).substr(0, 19);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text + "Z";
}

CanonicalRequest canonical_request(const net::Request& request, const SigningScope& scope, std::string_view body_hash) {
  std::multimap<std::string, std::string> headers = {{"host", net::authority(request.url)}};
  for (const net::Header& header : request.headers) headers.emplace(to_lower(header.name), canonical_value(header.value));
  std::map<std::string, std::string> joined;
  for (const auto& [name, value] : headers) {
    std::string& all = joined[name];
    all += all.empty() ? value : "," + value;
  }
  std::string lines;
  std::vector<std::string> names;
  for (const auto& [name, value] : joined) {
    lines += fmt::format("{}:{}\n", name, value);
    names.push_back(name);
  }
  const std::string_view target = request.url.target;
  const std::size_t question = target.find('?');
  const std::string query = question == std::string_view::npos ? "" : canonical_query(target.substr(question + 1));
  CanonicalRequest made{.text = {}, .signed_headers = join(names, ";")};
  made.text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, canonical_path(target.substr(0, question), scope), query,
                          lines, made.signed_headers, body_hash);
  return made;
}

void sign(net::Request& request, const Credentials& credentials, const SigningScope& scope, WallTime now) {
  const std::string time = to_basic_time(now);
  const std::string body_hash = sha256_hex(request.body);
  request.headers.push_back({"X-Amz-Date", time});
  if (scope.service == "s3") request.headers.push_back({"X-Amz-Content-Sha256", body_hash});
  if (!credentials.session_token.empty()) {
    request.headers.push_back({"X-Amz-Security-Token", credentials.session_token.reveal()});
  }
  const CanonicalRequest canonical = canonical_request(request, scope, body_hash);
  request.authorization =
      Secret(fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm, credentials.access_key,
                         scope_text(scope, time), canonical.signed_headers, signature(canonical, credentials, scope, time)));
}

std::string presigned_url(const net::Url& url, const Credentials& credentials, const SigningScope& scope, WallTime now,
                          Seconds lifetime) {
  const std::string time = to_basic_time(now);
  net::Request request{.url = url};
  const auto add = [&](std::string_view name, std::string_view value) {
    const char separator = request.url.target.find('?') == std::string::npos ? '?' : '&';
    request.url.target += fmt::format("{}{}={}", separator, name, net::percent_encode(value));
  };
  add("X-Amz-Algorithm", algorithm);
  add("X-Amz-Credential", fmt::format("{}/{}", credentials.access_key, scope_text(scope, time)));
  add("X-Amz-Date", time);
  add("X-Amz-Expires", std::to_string(lifetime.count()));
  if (!credentials.session_token.empty()) add("X-Amz-Security-Token", credentials.session_token.reveal());
  add("X-Amz-SignedHeaders", "host");
  const CanonicalRequest canonical = canonical_request(request, scope, "UNSIGNED-PAYLOAD");
  return net::to_string(request.url) + "&X-Amz-Signature=" + signature(canonical, credentials, scope, time);
}

}  // namespace slipway::provider::aws
