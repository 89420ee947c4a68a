#include "release/digest.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"

namespace slipway::release {

namespace {

constexpr std::string_view prefix = "sha256:";
constexpr std::size_t hex_digits = 64;

bool is_hex(std::string_view text) {
  return text.size() == hex_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<Digest> Digest::parse(std::string_view text) {
  if (!text.starts_with(prefix) || !is_hex(text.substr(prefix.size()))) {
    return error(Code::invalid, "'{}' is not a digest (must be sha256: and 64 lower-case hexadecimal digits)", to_utf8(text));
  }
  return Digest(std::string(text.substr(prefix.size())));
}

Digest Digest::of(std::string_view bytes) { return Digest(sha256_hex(bytes)); }

Digest Digest::from_hex(std::string hex) {
  CHECK(is_hex(hex));
  return Digest(std::move(hex));
}

}  // namespace slipway::release
