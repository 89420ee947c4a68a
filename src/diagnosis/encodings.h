// Decodes pieces of text in which redact.h searches for secrets: base64, percent encoding and backslash escapes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// Whether the character belongs to base64, in the standard or the URL-safe alphabet. '=' does not count.
bool is_base64(char c);

// Decodes characters of base64 in either alphabet, without padding. Bits that do not fill a byte at the end are dropped.
std::string decode_base64(std::string_view run);

// The part of the text's base64 that depends only on the text, if `before` bytes (0 to 2) precede the text.
std::string base64_core(std::string_view text, std::size_t before);

// A text with one layer of escapes removed. Byte i of `text` was at origin[i] to origin[i + 1] of the escaped text.
struct View {
  std::string text;
  std::vector<std::uint32_t> origin;
};

// Both return nothing if the text has no such escape.
std::optional<View> unescape_percent(std::string_view text);
std::optional<View> unescape_backslash(std::string_view text);

}  // namespace slipway::diagnosis
