// Digests identify content: "sha256:" and 64 hexadecimal digits.
#pragma once

#include "base/result.h"

#include <compare>
#include <string>
#include <string_view>

namespace slipway::release {

// A value that is always valid.
class Digest {
 public:
  // errors: invalid: another algorithm, a wrong length, a character other than a lower-case hexadecimal digit
  static Result<Digest> parse(std::string_view text);
  static Digest of(std::string_view bytes);
  static Digest from_hex(std::string hex);  // must be the result of a hash function

  const std::string& hex() const { return hex_; }
  std::string text() const { return "sha256:" + hex_; }

  auto operator<=>(const Digest&) const = default;

 private:
  explicit Digest(std::string hex) : hex_(std::move(hex)) {}

  std::string hex_;
};

}  // namespace slipway::release
