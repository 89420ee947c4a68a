#include "base/digest.h"

#include "base/check.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

namespace slipway {

namespace {

std::string to_hex(const unsigned char* bytes, unsigned size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(size * 2);
  for (unsigned i = 0; i < size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

// 0 to 63 for a character of the alphabet, -1 otherwise.
int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) { CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1); }
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1); }

std::string Sha256::finish_hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out;
  unsigned size = 0;
  CHECK(EVP_DigestFinal_ex(state_->context, out.data(), &size) == 1);
  return to_hex(out.data(), size);
}

std::string sha256_bytes(std::string_view bytes) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &size, EVP_sha256(), nullptr) == 1);
  out.resize(size);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

std::string md5_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out;
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_md5(), nullptr) == 1);
  return to_hex(out.data(), size);
}

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

// Not EVP_DecodeBlock: it accepts blanks and line breaks at both ends and leaves the padding in the result.
Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return error(Code::invalid, "base64 text has {} characters, not a multiple of 4", text.size());
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int padding = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padded = k >= static_cast<std::size_t>(4 - padding);
      const int value = padded ? 0 : base64_value(text[i + k]);
      if (value < 0) return error(Code::invalid, "base64 text has an invalid character at offset {}", i + k);
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    const std::uint32_t unused = padding == 2 ? 0xffff : padding == 1 ? 0xff : 0;
    if (group & unused) return error(Code::invalid, "base64 text has stray bits before its padding");
    for (int k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 0xff);
  }
  return bytes;
}

}  // namespace slipway
