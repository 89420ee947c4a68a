// Secret: text that must not appear in a log, an event or an error message.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace slipway {

// Prints as ***. Only reveal() returns the text, so that a review can find all uses. The destructor wipes the memory; short-lived
// copies inside std::string and libraries are not wiped.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      wipe();
      text_ = other.text_;
    }
    return *this;
  }
  Secret& operator=(Secret&& other) noexcept {
    std::swap(text_, other.text_);
    other.wipe();
    return *this;
  }
  ~Secret() { wipe(); }

  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  bool operator==(const Secret&) const = default;

 private:
  void wipe();

  std::string text_;
};

}  // namespace slipway

template <>
struct fmt::formatter<slipway::Secret> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::format_context::iterator format(const slipway::Secret&, fmt::format_context& context) const;
};
