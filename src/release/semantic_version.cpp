#include "release/semantic_version.h"

#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace slipway::release {

namespace {

std::strong_ordering compare_parts(std::string_view a, std::string_view b) {
  const std::optional<int> number_a = parse_number<int>(a), number_b = parse_number<int>(b);
  if (number_a && number_b) return *number_a <=> *number_b;
  if (number_a) return std::strong_ordering::less;
  if (number_b) return std::strong_ordering::greater;
  return a <=> b;
}

}  // namespace

std::strong_ordering SemanticVersion::operator<=>(const SemanticVersion& other) const {
  const auto numbers = std::tie(major, minor, patch) <=> std::tie(other.major, other.minor, other.patch);
  if (numbers != std::strong_ordering::equal) return numbers;
  if (pre_release.empty() || other.pre_release.empty()) return pre_release.empty() <=> other.pre_release.empty();
  const std::vector<std::string_view> parts = split(pre_release, '.'), others = split(other.pre_release, '.');
  for (std::size_t i = 0; i < std::min(parts.size(), others.size()); ++i) {
    if (const auto order = compare_parts(parts[i], others[i]); order != std::strong_ordering::equal) return order;
  }
  return parts.size() <=> others.size();
}

Result<SemanticVersion> parse_semantic_version(std::string_view text) {
  const auto refused = [&] { return error(Code::invalid, "'{}' is not a version like 4.1.12", text); };
  std::string_view rest = text.starts_with('v') ? text.substr(1) : text;
  rest = rest.substr(0, rest.find('+'));
  SemanticVersion version;
  if (const std::size_t dash = rest.find('-'); dash != std::string_view::npos) {
    version.pre_release = rest.substr(dash + 1);
    rest = rest.substr(0, dash);
    if (version.pre_release.empty()) return refused();
  }
  const std::vector<std::string_view> numbers = split(rest, '.');
  if (numbers.size() != 3) return refused();
  int* const fields[] = {&version.major, &version.minor, &version.patch};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::optional<int> number = parse_number<int>(numbers[i]);
    if (!number || *number < 0) return refused();
    *fields[i] = *number;
  }
  return version;
}

}  // namespace slipway::release
