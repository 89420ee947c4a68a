// SHA-256, whole or in pieces, and base64: what names and carries content all over slipway.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace slipway {

// Lower-case hexadecimal SHA-256 of some bytes, 64 characters.
std::string sha256_hex(std::string_view bytes);

// SHA-256 of bytes that come in pieces. Threads: one at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  std::string finish_hex();  // once; the object is used up

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Lower-case hexadecimal MD5, 32 characters: for names that others make that way, never as a protection.
std::string md5_hex(std::string_view bytes);

// Standard base64 with padding (RFC 4648 4).
std::string base64_encode(std::string_view bytes);

// errors: invalid when a character or the padding is wrong; line breaks and blanks are refused
Result<std::string> base64_decode(std::string_view text);

}  // namespace slipway
