#include "net/x509.h"

#include <crypt.h>
#include <string.h>

#include <array>
#include <memory>

namespace slipway::net {

namespace {

constexpr std::size_t password_limit = 72;  // bcrypt ignores further bytes
constexpr std::size_t salt_size = 16;

struct Wipe {
  void operator()(crypt_data* data) const {
    explicit_bzero(data, sizeof *data);  // contains the password
    delete data;
  }
};

}  // namespace

Result<std::string> bcrypt(const Secret& password, int cost, std::string_view salt16) {
  if (password.reveal().size() > password_limit || password.reveal().find('\0') != std::string::npos) {
    return error(Code::invalid, "a password for bcrypt must have at most {} bytes, none of them zero", password_limit);
  }
  if (cost < 4 || cost > 31) return error(Code::invalid, "the cost of bcrypt must be 4 to 31, got {}", cost);
  if (salt16.size() != salt_size)
    return error(Code::invalid, "the salt of bcrypt must have {} bytes, got {}", salt_size, salt16.size());
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> setting{};
  const char* set = crypt_gensalt_rn("$2a$", static_cast<unsigned long>(cost), salt16.data(), static_cast<int>(salt16.size()),
                                     setting.data(), static_cast<int>(setting.size()));
  if (set == nullptr) return error(Code::internal, "libcrypt cannot generate a bcrypt salt");
  std::unique_ptr<crypt_data, Wipe> data(new crypt_data{});
  const char* hash = crypt_r(password.reveal().c_str(), setting.data(), data.get());
  if (hash == nullptr || hash[0] == '*') return error(Code::internal, "libcrypt cannot generate a bcrypt hash");
  return std::string(hash);
}

}  // namespace slipway::net
