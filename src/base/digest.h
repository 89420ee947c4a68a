// Digests (SHA-256, MD5) and base64.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace slipway {

// Lower-case hexadecimal SHA-256, 64 characters.
std::string sha256_hex(std::string_view bytes);

// The 32 bytes of a SHA-256.
std::string sha256_bytes(std::string_view bytes);

// SHA-256 of a stream of bytes. Threads: one at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  std::string finish_hex();  // call once, as the last call

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Lower-case hexadecimal MD5, 32 characters. Only for names that other programs derive from MD5, never for security.
std::string md5_hex(std::string_view bytes);

// Standard base64 with padding (RFC 4648 4).
std::string base64_encode(std::string_view bytes);

// errors: invalid: a wrong character or wrong padding; line breaks and blanks are not allowed
Result<std::string> base64_decode(std::string_view text);

}  // namespace slipway
