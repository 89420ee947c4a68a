#include "net/hmac.h"

#include "base/check.h"
#include "net/openssl.h"

namespace slipway::net {

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string code(32, '\0');
  CHECK(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                  reinterpret_cast<const unsigned char*>(text.data()), text.size(), reinterpret_cast<unsigned char*>(code.data()),
                  code.size(), nullptr) != nullptr);
  return code;
}

}  // namespace slipway::net
