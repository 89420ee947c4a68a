#include "net/url.h"

#include "base/characters.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::net {

namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyz0123456789-._";
constexpr std::string_view ipv6_characters = "abcdef0123456789:.";

int default_port(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

Result<int> parse_port(std::string_view text) {
  const int port = parse_number<std::uint16_t>(text).value_or(0);
  if (port == 0) return error(Code::invalid, "'{}' is not a port", text);
  return port;
}

// Parses "host", "host:port" or "[address]:port" into a URL whose scheme is set.
Result<> read_authority(std::string_view text, Url& url) {
  if (text.find('@') != std::string_view::npos) {
    return error(Code::invalid, "user and password are not allowed in a URL");
  }
  const bool bracket = text.starts_with('[');
  const std::size_t end = bracket ? text.find(']') : text.find(':');
  if (bracket && end == std::string_view::npos) return error(Code::invalid, "']' missing");
  url.host = to_lower(bracket ? text.substr(1, end - 1) : text.substr(0, end));
  if (!consists_of(url.host, bracket ? ipv6_characters : name_characters)) {
    return url.host.empty() ? error(Code::invalid, "has no host") : error(Code::invalid, "'{}' is not a host", url.host);
  }
  std::string_view rest = end == std::string_view::npos ? std::string_view() : text.substr(bracket ? end + 1 : end);
  url.port = default_port(url.scheme);
  if (rest.empty()) return Ok{};
  if (rest[0] != ':') return error(Code::invalid, "'{}' is not a port", rest);
  url.port = TRY(parse_port(rest.substr(1)));
  return Ok{};
}

Result<Url> parse(std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return c <= ' ' || c == '\x7f'; })) {
    return error(Code::invalid, "contains a blank, a control character or a non-ASCII character");
  }
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return error(Code::invalid, "must begin with http:// or https://");
  Url url;
  url.scheme = to_lower(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") return error(Code::invalid, "only http and https are supported");
  std::string_view rest = text.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t target = std::min(rest.find_first_of("/?"), rest.size());
  TRY(read_authority(rest.substr(0, target), url));
  rest.remove_prefix(target);
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  return url;
}

}  // namespace

// A text with '@' may contain a password, so the error does not repeat it.
Result<Url> parse_url(std::string_view text) {
  const bool secret = text.find('@') != std::string_view::npos;
  return parse(text).context(secret ? "URL" : fmt::format("URL '{}'", to_utf8(text)));
}

std::string to_string(const Url& url) { return fmt::format("{}://{}{}", url.scheme, authority(url), url.target); }

std::string authority(const Url& url) {
  std::string text = url.host.find(':') == std::string::npos ? url.host : fmt::format("[{}]", url.host);
  if (url.port != default_port(url.scheme)) text += fmt::format(":{}", url.port);
  return text;
}

Result<Url> resolve(const Url& base, std::string_view reference) {
  if (reference.starts_with("//")) return parse_url(fmt::format("{}:{}", base.scheme, reference));
  const std::size_t scheme_end = reference.find("://");
  if (scheme_end != std::string_view::npos && scheme_end < reference.find_first_of("/?#")) return parse_url(reference);
  const std::string_view target = base.target;
  const std::string_view path = target.substr(0, target.find('?'));
  std::string before;  // the part of the base's target that precedes the reference
  if (reference.empty() || reference.starts_with('#')) before = target;
  if (reference.starts_with('?'))
    before = path;
  else if (!reference.empty() && reference.find_first_of("/#") != 0)
    before = path.substr(0, path.rfind('/') + 1);
  Url origin = base;
  origin.target = "";
  return parse_url(fmt::format("{}{}{}", to_string(origin), before, reference));
}

std::string percent_encode(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~')
      result += c;
    else
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && consists_of(host, "0123456789."));
}

}  // namespace slipway::net
