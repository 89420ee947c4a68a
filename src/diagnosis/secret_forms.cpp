#include "diagnosis/secret_forms.h"

#include "diagnosis/encodings.h"

#include "base/characters.h"

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

constexpr std::size_t shortest_token = 16;     // after "Bearer" or "Basic"
constexpr std::size_t longest_key = 64 << 10;  // bytes; limits a private key without an end line

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::size_t end_of(std::string_view text, std::size_t begin, std::string_view enders) {
  return std::min(text.find_first_of(enders, begin), text.size());
}

// "scheme://user:password@host"
void find_logins_of_urls(std::string_view text, Spans& found) {
  constexpr std::string_view slashes = "://";
  for (std::size_t at = text.find(slashes); at != std::string_view::npos; at = text.find(slashes, at)) {
    at += slashes.size();
    const std::string_view authority = text.substr(at, end_of(text, at, "/?# \t\r\n\"'<>`\\") - at);
    const std::size_t end = authority.rfind('@');
    if (end != std::string_view::npos && authority.substr(0, end).find(':') != std::string_view::npos)
      found.push_back({at, at + end});
  }
}

bool is_token(char c) { return is_base64(c) || c == '.' || c == '~' || c == '='; }

void find_web_tokens(std::string_view text, Spans& found) {
  constexpr std::string_view begin_of_object = "eyJ";
  const auto word = [&](std::size_t at) {
    while (at < text.size() && is_base64(text[at])) ++at;
    return at;
  };
  for (std::size_t at = text.find(begin_of_object); at != std::string_view::npos; at = text.find(begin_of_object, at + 1)) {
    const std::size_t header = word(at);
    if (header >= text.size() || text[header] != '.' || !text.substr(header + 1).starts_with(begin_of_object)) continue;
    const std::size_t body = word(header + 1);
    if (body >= text.size() || text[body] != '.') continue;
    const std::size_t end = word(body + 1);
    found.push_back({at, end});
    at = end - 1;
  }
}

void find_authorizations(std::string_view text, Spans& found) {
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    for (std::size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at)) {
      at += scheme.size();
      std::size_t end = at;
      while (end < text.size() && is_token(text[end])) ++end;
      if (end - at >= shortest_token) found.push_back({at, end});
    }
  }
}

void find_hashes_of_passwords(std::string_view text, Spans& found) {
  for (const std::string_view begin : {"$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$"}) {
    for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at)) {
      const std::size_t end = end_of(text, at, " \t\r\n\"'\\,;:<>");
      if (end - at >= 30) found.push_back({at, end});
      at = std::max(end, at + begin.size());
    }
  }
}

// A field of pull secrets, kubeconfigs or Ignition configs, in JSON or YAML.
struct Field {
  std::string_view name;
  bool is_word = false;  // also a word of log messages ("auth: expired"): it counts only in quotes
};
constexpr auto secret_fields = std::to_array<Field>(
    {{"auth", true}, {"password"}, {"passwordHash"}, {"identitytoken"}, {"registrytoken"}, {"client-key-data"}});

void find_fields(std::string_view text, Spans& found) {
  for (const auto& [field, is_word] : secret_fields) {
    for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + 1)) {
      const bool is_quoted = at > 0 && text[at - 1] == '"';
      if (at > 0 && !is_quoted && !is_blank(text[at - 1]) && text[at - 1] != '\n' && text[at - 1] != '{') continue;
      std::size_t begin = at + field.size();
      if (is_word && !is_quoted) continue;
      if (is_quoted && (begin == text.size() || text[begin++] != '"')) continue;
      while (begin < text.size() && is_blank(text[begin])) ++begin;
      if (begin >= text.size() || text[begin] != ':') continue;
      ++begin;
      while (begin < text.size() && is_blank(text[begin])) ++begin;
      if (begin == text.size()) continue;
      const char quote = text[begin];
      if (quote == '"' || quote == '\'') {
        const std::size_t end = end_of(text, ++begin, std::string_view(&quote, 1));
        if (end > begin) found.push_back({begin, end});
      } else if (!is_quoted) {
        const std::size_t end = end_of(text, begin, " \t\r\n,}");
        if (end > begin) found.push_back({begin, end});
      }
    }
  }
}

void find_data_urls(std::string_view text, Spans& found) {
  constexpr std::string_view scheme = "data:";
  for (std::size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at)) {
    const bool is_scheme = at == 0 || !is_letter_or_digit(text[at - 1]);
    at += scheme.size();
    std::size_t comma = at;
    while (comma < text.size() && (is_base64(text[comma]) || text[comma] == ';' || text[comma] == '=' || text[comma] == '.'))
      ++comma;
    if (!is_scheme || comma == text.size() || text[comma] != ',') continue;
    const std::size_t end = end_of(text, comma + 1, " \t\r\n\"'\\<>");
    if (end > comma + 1) found.push_back({comma + 1, end});
    at = end;
  }
}

}  // namespace

void find_private_keys(std::string_view text, Spans& found) {
  constexpr std::string_view name = "PRIVATE KEY-----", opening = "-----BEGIN ", closing = "-----END ";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at)) {
    const std::size_t begin = text.rfind(opening, at);
    if (begin == std::string_view::npos || at - begin > 40) {
      at += name.size();
      continue;
    }
    std::size_t end = text.find(closing, at);
    if (end == std::string_view::npos || end - at > longest_key) {
      end = std::min(text.size(), at + longest_key);
    } else {
      const std::size_t dashes = text.find("-----", end + closing.size());
      end = dashes == std::string_view::npos ? text.size() : dashes + 5;
    }
    found.push_back({begin, end});
    at = end;
  }
}

void find_secret_forms(std::string_view text, Spans& found) {
  find_private_keys(text, found);
  find_logins_of_urls(text, found);
  find_web_tokens(text, found);
  find_authorizations(text, found);
  find_hashes_of_passwords(text, found);
  find_fields(text, found);
  find_data_urls(text, found);
}

}  // namespace slipway::diagnosis
