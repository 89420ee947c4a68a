#include "base/yaml_scalar.h"

#include "base/characters.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <string>

namespace slipway::yaml {

namespace {

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  std::size_t i = 0;
  auto skip_sign = [&] { i += i < text.size() && (text[i] == '-' || text[i] == '+'); };
  auto skip_digits = [&] {
    std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  skip_sign();
  std::size_t digits = skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    skip_sign();
    if (skip_digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<Json> resolve_integer(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  if (text.empty() || text.front() == '-') return std::nullopt;
  if (negative) {
    if (auto number = parse_number<std::int64_t>("-" + std::string(text), base)) return Json(*number);
    return std::nullopt;
  }
  if (auto number = parse_number<std::int64_t>(text, base)) return Json(*number);
  if (auto number = parse_number<std::uint64_t>(text, base)) return Json(*number);
  return std::nullopt;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 5> null_words = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> true_words = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> false_words = {"false", "False", "FALSE"};

// Words with a special meaning in YAML 1.1 (booleans, merge and default key), in lower case.
constexpr std::array<std::string_view, 8> yaml_1_1_words = {"y", "n", "yes", "no", "on", "off", "<<", "="};

constexpr std::array<std::string_view, 8> not_finite_words = {".inf", "+.inf", "-.inf", ".nan", "inf", "nan", "infinity", "-inf"};

}  // namespace

std::optional<Json> resolve_plain(std::string_view text) {
  if (is_one_of(text, null_words)) return Json(nullptr);
  if (is_one_of(text, true_words)) return Json(true);
  if (is_one_of(text, false_words)) return Json(false);
  const char first = text.front();
  if (!is_digit(first) && first != '-' && first != '+' && first != '.') return std::nullopt;
  std::string plain(text);
  if (text.find('_') != std::string_view::npos && is_digit(first)) std::erase(plain, '_');
  if (auto integer = resolve_integer(plain)) return integer;
  if (!looks_like_float(plain)) return std::nullopt;
  // A number out of range stays a string, because any number would have another value.
  const auto number = parse_number<double>(std::string_view(plain).substr(plain.front() == '+' ? 1 : 0));
  return number ? std::optional(Json(*number)) : std::nullopt;
}

bool is_ambiguous(std::string_view text) {
  if (resolve_plain(text)) return true;
  const std::string word = to_lower(text);
  if (is_one_of<8>(word, yaml_1_1_words) || is_one_of<8>(word, not_finite_words)) return true;
  const char first = text.front();
  // Dates, sexagesimal numbers ("1:20"), malformed numbers: any text that starts like a number and has only characters of
  // numbers.
  if (!is_digit(first) && first != '-' && first != '+' && first != '.') return false;
  return word.find_first_not_of("0123456789abcdefox+-._:tz ") == std::string::npos &&
         word.find_first_of("0123456789") != std::string::npos;
}

}  // namespace slipway::yaml
