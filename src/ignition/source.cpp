#include "ignition/source.h"

#include "base/text.h"
#include "ignition/data_url.h"

#include <algorithm>

namespace slipway::ignition {

namespace {

bool is_hex(char c) { return std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos; }

Result<> check_escapes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
      return error(Code::invalid, "a % is not followed by two hexadecimal digits");
    }
  }
  return Ok{};
}

// A versionId parameter must have a value.
Result<> check_version_id(std::string_view url) {
  const std::size_t question = url.find('?');
  if (question == std::string_view::npos) return Ok{};
  for (std::string_view parameter : split(url.substr(question + 1, url.find('#') - question - 1), '&')) {
    if (parameter == "versionId" || parameter == "versionId=") return error(Code::invalid, "versionId is empty");
  }
  return Ok{};
}

// arn:partition:s3:region:account:bucket/key, or ...:accesspoint/point/key
Result<> check_arn(std::string_view url) {
  const std::string_view plain = url.substr(0, url.find_first_of("?#"));
  const auto sections = split(plain, ':');
  const auto parts = split(plain, '/');
  if (sections.size() < 6 || sections[2] != "s3" || parts.size() < (sections[5].starts_with("accesspoint/") ? 3u : 2u)) {
    return error(Code::invalid, "an arn must be 'arn:PARTITION:s3:REGION:ACCOUNT:BUCKET/KEY'");
  }
  return check_version_id(url);
}

}  // namespace

std::string scheme_of(std::string_view url) {
  const std::string scheme = to_lower(url.substr(0, url.find(':')));
  const bool complete = scheme.size() < url.size() && !scheme.empty() && scheme[0] >= 'a' && scheme[0] <= 'z' &&
                        scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") == std::string::npos;
  return complete ? scheme : "";
}

Result<> check_server_url(std::string_view url) {
  if (std::ranges::any_of(url, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; })) {
    return error(Code::invalid, "contains a control character");
  }
  std::string_view rest = url.substr(url.find(':') + 1);
  if (!rest.starts_with("//")) return error(Code::invalid, "the scheme must be followed by '//' and a host");
  rest.remove_prefix(2);
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  const std::size_t host_end = authority.starts_with('[') ? authority.find(']') : 0;
  if (host_end == std::string_view::npos) return error(Code::invalid, "the bracket around the address is not closed");
  const std::size_t colon = authority.find(':', host_end);
  const std::string_view host = authority.substr(0, colon);
  if (host.empty() || host.find_first_of(" <>\"\\^`{|}%") != std::string_view::npos) {
    return error(Code::invalid, "the host is missing or invalid");
  }
  if (colon != std::string_view::npos) {
    const std::string_view port = authority.substr(colon + 1);
    if (port.find_first_not_of("0123456789") != std::string_view::npos) return error(Code::invalid, "the port is not a number");
  }
  return check_escapes(rest.substr(0, rest.find('?')));
}

Result<> check_source(std::string_view url) {
  const std::string scheme = scheme_of(url);
  if (scheme == "data") {
    TRY(decode_data_url(url));
    return Ok{};
  }
  if (scheme == "arn") return check_arn(url);
  if (scheme == "http" || scheme == "https" || scheme == "tftp" || scheme == "gs" || scheme == "s3") {
    TRY(check_server_url(url));
    return scheme == "s3" ? check_version_id(url) : Ok{};
  }
  return error(Code::invalid, "the scheme must be http, https, tftp, s3, arn, gs or data");
}

}  // namespace slipway::ignition
