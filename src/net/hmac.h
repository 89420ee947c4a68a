// HMAC: codes that prove the knowledge of a key.
#pragma once

#include <string>
#include <string_view>

namespace slipway::net {

// HMAC-SHA256 (RFC 2104), 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace slipway::net
