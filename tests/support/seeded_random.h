// SeededRandom: the same random numbers in every run.
#pragma once

#include "sys/random.h"

#include <random>

namespace slipway::testing_support {

class SeededRandom final : public sys::Random {
 public:
  explicit SeededRandom(unsigned seed) : engine_(seed) {}

  Result<std::string> bytes(std::size_t count) override {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine_() & 0xff);
    return bytes;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace slipway::testing_support
