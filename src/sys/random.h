// Random: names, tokens and passwords that nobody can guess.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::sys {

// Threads: any. Tests that compare what was made use testing_support::SeededRandom.
class Random {
 public:
  virtual ~Random() = default;

  // So many bytes. errors: internal: the kernel has none to give
  virtual Result<std::string> bytes(std::size_t count) = 0;
};

// The kernel's.
class RealRandom final : public Random {
 public:
  Result<std::string> bytes(std::size_t count) override;
};

// So many characters of an alphabet, each as likely as the next. alphabet: 1 to 256 characters
Result<std::string> random_text(Random& random, std::size_t count, std::string_view alphabet);

// So many hexadecimal digits.
Result<std::string> random_hex(Random& random, std::size_t digits);

// "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22", version 4 (RFC 9562 5.4).
Result<std::string> random_uuid(Random& random);

}  // namespace slipway::sys
