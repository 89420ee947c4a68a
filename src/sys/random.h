// Random: random bytes for names, tokens and passwords.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::sys {

// Threads: any. Tests that compare results use testing_support::SeededRandom.
class Random {
 public:
  virtual ~Random() = default;

  // Returns `count` bytes. errors: internal: the kernel has no random bytes
  virtual Result<std::string> bytes(std::size_t count) = 0;
};

// Random bytes of the kernel.
class RealRandom final : public Random {
 public:
  Result<std::string> bytes(std::size_t count) override;
};

// `count` characters of the alphabet, uniformly distributed. alphabet: 1 to 256 characters
Result<std::string> random_text(Random& random, std::size_t count, std::string_view alphabet);

// `digits` hexadecimal digits.
Result<std::string> random_hex(Random& random, std::size_t digits);

// A UUID of version 4 (RFC 9562 5.4): "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22".
Result<std::string> random_uuid(Random& random);

}  // namespace slipway::sys
