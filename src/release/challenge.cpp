#include "release/challenge.h"

#include "base/text.h"

#include <algorithm>

namespace slipway::release {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool is_at_end() const { return rest_.empty(); }
  void skip(std::string_view characters) { rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size())); }
  bool take(char c) {
    const bool there = rest_.starts_with(c);
    if (there) rest_.remove_prefix(1);
    return there;
  }
  std::string_view until(std::string_view characters) {
    const std::string_view text = rest_.substr(0, rest_.find_first_of(characters));
    rest_.remove_prefix(text.size());
    return text;
  }
  std::string value() {
    if (!take('"')) return std::string(until(", \t"));
    std::string text;
    while (!is_at_end() && !take('"')) {
      take('\\');
      text += rest_.substr(0, 1);
      rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    }
    return text;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string Challenge::parameter(const std::string& name) const {
  auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

std::vector<Challenge> parse_challenges(std::string_view header) {
  std::vector<Challenge> challenges;
  Reader reader(header);
  for (;;) {
    reader.skip(", \t=\"");
    if (reader.is_at_end()) return challenges;
    const std::string word = to_lower(reader.until(", \t=\""));
    reader.skip(" \t");
    if (!reader.take('=')) {
      challenges.push_back({word, {}});
      continue;
    }
    reader.skip(" \t");
    std::string value = reader.value();
    if (!challenges.empty()) challenges.back().parameters.emplace(word, std::move(value));
  }
}

}  // namespace slipway::release
