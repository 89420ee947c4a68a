// Numbers in text: decimal, without blanks and without a '+'; only types that have a sign take a '-'.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace slipway {

// The number at the front of the text, which loses it. Nothing, and the text as it was, when none stands there or the type
// cannot hold it. base: other than 10, of whole numbers only; 16 has no "0x"
template <class Number>
std::optional<Number> take_number(std::string_view& text, std::same_as<int> auto... base) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// The number that the whole text is. A port: parse_number<std::uint16_t>(text)
template <class Number>
std::optional<Number> parse_number(std::string_view text, std::same_as<int> auto... base) {
  const std::optional<Number> number = take_number<Number>(text, base...);
  return text.empty() ? number : std::nullopt;
}

}  // namespace slipway
