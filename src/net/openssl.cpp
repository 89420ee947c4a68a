#include "net/openssl.h"

#include "base/check.h"

#include <limits>

namespace slipway::net {

Error problem(Code code, std::string_view doing) {
  const char* words = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return words == nullptr ? error(code, "{}", doing) : error(code, "{}: {}", doing, words);
}

int no_passphrase(char*, int, int, void*) { return -1; }

Bio reader(std::string_view text) {
  CHECK(text.size() <= std::numeric_limits<int>::max());
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CHECK(bio != nullptr);
  return bio;
}

Bio writer() {
  Bio bio(BIO_new(BIO_s_mem()));
  CHECK(bio != nullptr);
  return bio;
}

std::string written(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::optional<Block> read_block(const Bio& bio) {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) return std::nullopt;
  const Bytes<char> name_owner(name), header_owner(header);
  std::optional<Block> block(std::in_place, name,
                             std::string_view(reinterpret_cast<char*>(data), static_cast<std::size_t>(size)));
  OPENSSL_clear_free(data, static_cast<std::size_t>(size));
  return block;
}

}  // namespace slipway::net
