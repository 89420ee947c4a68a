// Parses decimal numbers, without blanks and without '+'. A '-' is allowed for signed types only.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace slipway {

// Removes the number at the start of the text and returns it. nullopt if there is no number or the type cannot hold it; the text
// then stays unchanged. base: other than 10, for integers only; base 16 has no "0x"
template <class Number>
std::optional<Number> take_number(std::string_view& text, std::same_as<int> auto... base) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// The whole text as a number. A port: parse_number<std::uint16_t>(text)
template <class Number>
std::optional<Number> parse_number(std::string_view text, std::same_as<int> auto... base) {
  const std::optional<Number> number = take_number<Number>(text, base...);
  return text.empty() ? number : std::nullopt;
}

}  // namespace slipway
