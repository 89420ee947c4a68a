#include "diagnosis/encodings.h"

#include "base/characters.h"
#include "base/digest.h"

namespace slipway::diagnosis {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

int hex_byte(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// An escape: the byte that it stands for, and its length in bytes.
struct Escape {
  char byte;
  std::size_t length;
};

// The escape at this position, as in URLs and data URLs. systemd writes "%%" for "%".
std::optional<Escape> percent_escape(std::string_view text, std::size_t at) {
  if (text[at] != '%') return std::nullopt;
  if (at + 1 < text.size() && text[at + 1] == '%') return Escape{'%', 2};
  const int byte = hex_byte(text, at + 1);
  return byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 3});
}

// The escape at this position, as in JSON, double-quoted YAML, Go, the shell and systemd ("\x2d"). \uXXXX is decoded below U+0100
// only: no secret contains other characters.
std::optional<Escape> backslash_escape(std::string_view text, std::size_t at) {
  if (text[at] != '\\' || at + 1 == text.size()) return std::nullopt;
  const char kind = text[at + 1];
  if (kind == 'n') return Escape{'\n', 2};
  if (kind == 't') return Escape{'\t', 2};
  if (kind == 'r') return Escape{'\r', 2};
  if (kind == 'x') {
    const int byte = hex_byte(text, at + 2);
    return byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 4});
  }
  if (kind == 'u') {
    const int byte = hex_byte(text, at + 4);
    return hex_byte(text, at + 2) != 0 || byte < 0 ? std::nullopt : std::optional(Escape{static_cast<char>(byte), 6});
  }
  return is_letter_or_digit(kind) ? std::nullopt : std::optional(Escape{kind, 2});
}

template <class Decode>
std::optional<View> unescape(std::string_view text, char sign, Decode decode) {
  if (text.find(sign) == std::string_view::npos) return std::nullopt;
  View view;
  view.text.reserve(text.size());
  view.origin.reserve(text.size() + 1);
  bool has_escape = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Escape> escape = decode(text, at);
    has_escape = has_escape || escape;
    view.origin.push_back(static_cast<std::uint32_t>(at));
    view.text += escape ? escape->byte : text[at];
    at += escape ? escape->length : 1;
  }
  view.origin.push_back(static_cast<std::uint32_t>(text.size()));
  return has_escape ? std::optional(std::move(view)) : std::nullopt;
}

}  // namespace

bool is_base64(char c) { return is_letter_or_digit(c) || c == '+' || c == '/' || c == '-' || c == '_'; }

std::string decode_base64(std::string_view run) {
  std::string bytes;
  bytes.reserve(run.size() * 3 / 4);
  std::uint32_t group = 0;
  int count = 0;
  for (const char c : run) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<std::uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a' + 26);
    } else if (c >= '0' && c <= '9') {
      value = static_cast<std::uint32_t>(c - '0' + 52);
    } else {
      value = c == '+' || c == '-' ? 62 : 63;
    }
    group = group << 6 | value;
    if (++count == 4) {
      bytes += {static_cast<char>(group >> 16), static_cast<char>(group >> 8), static_cast<char>(group)};
      group = 0;
      count = 0;
    }
  }
  if (count == 3) bytes += {static_cast<char>(group >> 10), static_cast<char>(group >> 2)};
  if (count == 2) bytes += static_cast<char>(group >> 4);
  return bytes;
}

std::string base64_core(std::string_view text, std::size_t before) {
  const std::string encoded = base64_encode(std::string(before, '\0') + std::string(text));
  const std::size_t begin = (8 * before + 5) / 6, end = 8 * (before + text.size()) / 6;
  return encoded.substr(begin, end - begin);
}

std::optional<View> unescape_percent(std::string_view text) { return unescape(text, '%', percent_escape); }

std::optional<View> unescape_backslash(std::string_view text) { return unescape(text, '\\', backslash_escape); }

}  // namespace slipway::diagnosis
