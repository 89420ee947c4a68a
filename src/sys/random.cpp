#include "sys/random.h"

#include "base/check.h"
#include "base/uuid.h"
#include "sys/fd.h"

#include <unistd.h>

#include <algorithm>

namespace slipway::sys {

namespace {
constexpr std::string_view hex_digits = "0123456789abcdef";
}

// Not getrandom: this folder's random.h hides its header, <sys/random.h>.
Result<std::string> RealRandom::bytes(std::size_t count) {
  constexpr std::size_t max_per_call = 256;
  std::string bytes(count, '\0');
  for (std::size_t filled = 0; filled < count; filled += max_per_call) {
    if (::getentropy(bytes.data() + filled, std::min(max_per_call, count - filled)) != 0) {
      return system_error("reading random numbers");
    }
  }
  return bytes;
}

Result<std::string> random_text(Random& random, std::size_t count, std::string_view alphabet) {
  CHECK(!alphabet.empty() && alphabet.size() <= 256);
  // Bytes above the last whole multiple of the alphabet's size would favor its first characters.
  const std::size_t usable = 256 - 256 % alphabet.size();
  std::string text;
  while (text.size() < count) {
    for (const char byte : TRY(random.bytes(count - text.size()))) {
      const std::size_t number = static_cast<unsigned char>(byte);
      if (number < usable) text += alphabet[number % alphabet.size()];
    }
  }
  return text;
}

Result<std::string> random_hex(Random& random, std::size_t digits) { return random_text(random, digits, hex_digits); }

Result<std::string> random_uuid(Random& random) {
  std::string digits = TRY(random_hex(random, 32));
  digits[12] = '4';
  digits[16] = "89ab"[static_cast<unsigned char>(digits[16]) % 4];
  return uuid_of_hex(digits);
}

}  // namespace slipway::sys
