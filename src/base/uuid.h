// UUIDs (RFC 9562) as text.
#pragma once

#include <string>
#include <string_view>

namespace slipway {

// "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22" of at least 32 hexadecimal digits; further ones are left out.
std::string uuid_of_hex(std::string_view digits);

}  // namespace slipway
