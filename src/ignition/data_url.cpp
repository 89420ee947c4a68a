#include "ignition/data_url.h"

#include "base/digest.h"
#include "base/text.h"
#include "net/url.h"

#include <algorithm>
#include <array>

namespace slipway::ignition {

namespace {

bool is_printable(char c) { return c > ' ' && c < 0x7f; }

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_printable(c) && std::string_view("()<>@,;:\\\"/[]?=").find(c) == std::string_view::npos;
  });
}

// The types that Ignition accepts. It rejects all others.
bool is_media_type(std::string_view text) {
  static constexpr std::array<std::string_view, 7> types = {"text",        "image",   "audio",    "video",
                                                            "application", "message", "multipart"};
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_token(text.substr(slash + 1))) return false;
  const std::string_view type = text.substr(0, slash);
  return std::ranges::find(types, type) != types.end() || (to_lower(type).starts_with("x-") && is_token(type));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Messages do not quote the text: a broken URL may be a secret in the wrong place.
Result<std::string> percent_decode(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!is_printable(text[i]) || std::string_view("<>#\"{}|\\^[]`").find(text[i]) != std::string_view::npos) {
        return error(Code::invalid, "the byte at offset {} of the data must be escaped", i);
      }
      bytes += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_value(text[i + 2]);
    if (low < 0) return error(Code::invalid, "the % at offset {} of the data is not followed by two hexadecimal digits", i);
    bytes += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return bytes;
}

// The position of the first ';' or ',' outside of quoted values; npos if there is none.
std::size_t part_end(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == ';' || text[i] == ',')) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool is_parameter(std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos || !is_token(text.substr(0, equal))) return false;
  const std::string_view value = text.substr(equal + 1);
  return is_token(value) || (value.size() >= 2 && value.starts_with('"') && value.ends_with('"'));
}

}  // namespace

std::string encode_data_url(std::string_view bytes, DataEncoding encoding) {
  std::string percent = "data:," + net::percent_encode(bytes);
  if (encoding == DataEncoding::percent) return percent;
  std::string base64 = "data:;base64," + base64_encode(bytes);
  return encoding == DataEncoding::base64 || base64.size() < percent.size() ? base64 : percent;
}

Result<std::string> decode_data_url(std::string_view url) {
  if (!url.starts_with("data:")) return error(Code::invalid, "a data URL must begin with 'data:'");
  std::string_view rest = url.substr(5);
  bool base64 = false;
  for (bool first = true;; first = false) {
    const std::size_t end = part_end(rest);
    if (end == std::string_view::npos) return error(Code::invalid, "a data URL must have a comma before its data");
    const std::string_view part = rest.substr(0, end);
    const bool last = rest[end] == ',';
    rest.remove_prefix(end + 1);
    if (first) {
      if (!part.empty() && !is_media_type(part)) {
        return error(Code::invalid, "'data:' must be followed by a comma or a media type");
      }
    } else if (part == "base64" && last) {
      base64 = true;
    } else if (!is_parameter(part)) {
      return error(Code::invalid, "only parameters NAME=VALUE, and 'base64' as the last one, are allowed before the comma");
    }
    if (last) break;
  }
  return base64 ? base64_decode(rest) : percent_decode(rest);
}

}  // namespace slipway::ignition
