#include "config/names.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/text.h"
#include "net/ip.h"

#include <algorithm>
#include <string>
#include <vector>

namespace slipway::config {

namespace {

bool is_hexadecimal(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_number(std::string_view text, int longest) {
  return !text.empty() && text.size() <= static_cast<std::size_t>(longest) && std::ranges::all_of(text, is_digit);
}

bool is_path_component(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_host_with_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !net::is_ip(text.substr(1, end - 1))) return false;
    return end + 1 == text.size() || (text[end + 1] == ':' && is_number(text.substr(end + 2), 5));
  }
  if (colon == std::string_view::npos) return is_dns_subdomain(text);
  return is_dns_subdomain(text.substr(0, colon)) && is_number(text.substr(colon + 1), 5);
}

// The words of a line of authorized_keys. Options may contain blanks in quotes.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || (line[i] != ' ' && line[i] != '\t'))) continue;
    if (i > start) words.push_back(line.substr(start, i - start));
    start = i + 1;
  }
  return words;
}

// The blob begins with the length of the kind in four bytes, followed by the kind (RFC 4253 6.6).
bool is_key(std::string_view kind, std::string_view blob) {
  const auto bytes = base64_decode(blob);
  if (!bytes.ok() || kind.empty() || kind.size() > 255 || bytes->size() <= 4 + kind.size()) return false;
  const std::string length = {'\0', '\0', '\0', static_cast<char>(kind.size())};
  return bytes->starts_with(length) && std::string_view(bytes.value()).substr(4).starts_with(kind);
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) { return text.size() <= 253 && std::ranges::all_of(split(text, '.'), is_dns_label); }

bool is_repository(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  if (!is_host_with_port(host)) return false;
  if (slash == std::string_view::npos) return true;
  // The first part of a reference is a host only if it has a dot or a port, or is "localhost".
  if (host != "localhost" && host.find_first_of(".:") == std::string_view::npos) return false;
  return std::ranges::all_of(split(text.substr(slash + 1), '/'), is_path_component);
}

bool is_proxy_exception(std::string_view text) {
  if (text == "*" || net::is_ip(text) || net::parse_cidr(text).ok()) return true;
  if (text.starts_with('.')) text.remove_prefix(1);
  if (text.ends_with('.')) text.remove_suffix(1);
  return is_dns_subdomain(text);
}

bool is_host(std::string_view text) { return net::is_ip(text) || is_dns_subdomain(text); }

bool is_mac_address(std::string_view text) {
  constexpr std::size_t bytes = 6;
  if (text.size() != bytes * 3 - 1) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_separator = i % 3 == 2;
    if (is_separator ? text[i] != text[2] || (text[i] != ':' && text[i] != '-') : !is_hexadecimal(text[i])) return false;
  }
  // The lowest bit of the first byte marks multicast addresses.
  return std::string_view("02468aceACE").find(text[1]) != std::string_view::npos;
}

bool is_uuid(std::string_view text) {
  constexpr std::size_t lengths[] = {8, 4, 4, 4, 12};
  const std::vector<std::string_view> parts = split(text, '-');
  return std::ranges::equal(parts, lengths, {}, &std::string_view::size) &&
         std::ranges::all_of(parts, [](std::string_view part) { return std::ranges::all_of(part, is_hexadecimal); });
}

bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string scheme = to_lower(text.substr(0, colon));
  const bool has_scheme = !is_digit(scheme[0]) && std::ranges::all_of(scheme, [](char c) {
    return is_lower_or_digit(c) || c == '+' || c == '-' || c == '.';
  }) && is_lower_or_digit(scheme[0]);
  return has_scheme && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_quantity(std::string_view text) {
  static constexpr std::string_view suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                                  "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  if (std::ranges::count(number, '.') > 1 || number.find_first_of("123456789") == std::string_view::npos) return false;
  std::string_view rest = text.substr(end);
  if (std::ranges::find(suffixes, rest) != std::end(suffixes)) return true;
  if (!rest.starts_with('e') && !rest.starts_with('E')) return false;
  rest.remove_prefix(1);
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  return is_number(rest, 2);
}

std::string_view ssh_key_kind(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view trimmed = trim(line);
    if (trimmed.starts_with('#')) continue;
    const std::vector<std::string_view> words = words_of(trimmed);
    for (std::size_t i = 0; i + 1 < words.size() && i < 2; ++i) {
      if (is_key(words[i], words[i + 1])) return words[i];
    }
  }
  return "";
}

}  // namespace slipway::config
