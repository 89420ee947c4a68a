#include "net/age.h"

#include "base/digest.h"
#include "base/text.h"
#include "net/hmac.h"
#include "net/openssl.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

namespace slipway::net {

namespace {

constexpr std::string_view version_line = "age-encryption.org/v1";
constexpr std::string_view stanza = "-> X25519 ";
constexpr std::string_view recipient_prefix = "age", identity_prefix = "age-secret-key-";
constexpr std::size_t key_size = 32, file_key_size = 16, tag_size = 16, nonce_size = 12, payload_nonce_size = 16;
constexpr std::size_t chunk_size = 64 << 10, chunks_at_once = 16;
constexpr std::size_t longest_header = 1 << 16;

// ---- Bech32 (BIP 173), without its limit of 90 characters

constexpr std::string_view bech32_alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

std::uint32_t bech32_checksum(const std::vector<std::uint8_t>& values) {
  constexpr std::array<std::uint32_t, 5> generators = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  std::uint32_t sum = 1;
  for (const std::uint8_t value : values) {
    const std::uint32_t top = sum >> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (std::size_t i = 0; i < generators.size(); ++i) sum ^= (top >> i & 1) != 0 ? generators[i] : 0;
  }
  return sum;
}

// The 32 bytes of a key with this prefix; nothing if the text is not such a key.
std::optional<std::string> bech32_key(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.substr(prefix.size(), 1) != "1") return {};
  std::vector<std::uint8_t> values;
  for (const char c : prefix) values.push_back(static_cast<std::uint8_t>(c) >> 5);
  values.push_back(0);
  for (const char c : prefix) values.push_back(static_cast<std::uint8_t>(c) & 31);
  std::vector<std::uint8_t> data;
  for (const char c : text.substr(prefix.size() + 1)) {
    const std::size_t value = bech32_alphabet.find(c);
    if (value == std::string_view::npos) return {};
    data.push_back(static_cast<std::uint8_t>(value));
  }
  values.insert(values.end(), data.begin(), data.end());
  constexpr std::size_t checksum_size = 6, digits = 52;  // 52 digits of 5 bits: 256 bits and 4 zeros
  if (data.size() != digits + checksum_size || bech32_checksum(values) != 1) return {};
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    bits = (bits << 5 | data[i]) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if ((bits & 0xf) != 0) return {};
  return bytes;
}

// ---- primitives

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* octets(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// HKDF with SHA-256 (RFC 5869), 32 bytes.
std::string derive(std::string_view key, std::string_view salt, std::string_view info) {
  const std::string extracted = hmac_sha256(salt.empty() ? std::string(key_size, '\0') : std::string(salt), key);
  return hmac_sha256(extracted, std::string(info) + '\x01');
}

Result<Key> private_key(std::string_view bytes) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, octets(bytes), bytes.size()));
  if (!key) return problem(Code::internal, "reading an X25519 key");
  return key;
}

Result<std::string> public_bytes(const Key& key) {
  std::string bytes(key_size, '\0');
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), octets(bytes), &size) != 1) return problem(Code::internal, "reading an X25519 key");
  return bytes;
}

// errors: invalid: the other key is one that no key pair has
Result<std::string> shared_secret(const Key& own, std::string_view other) {
  const Key peer(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, octets(other), other.size()));
  const Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new(own.get(), nullptr));
  std::string secret(key_size, '\0');
  std::size_t size = secret.size();
  const bool is_fine = peer && context && EVP_PKEY_derive_init(context.get()) == 1 &&
                       EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1 &&
                       EVP_PKEY_derive(context.get(), octets(secret), &size) == 1;
  if (!is_fine) return problem(Code::invalid, "deriving an X25519 secret");
  return secret;
}

using Cipher = Handle<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

// ChaCha20-Poly1305 (RFC 8439); the tag follows the text.
Result<std::string> seal(std::string_view key, std::string_view nonce, std::string_view text) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string sealed(text.size() + tag_size, '\0');
  int size = 0, rest = 0;
  const bool is_fine = cipher &&
                       EVP_EncryptInit_ex(cipher.get(), EVP_chacha20_poly1305(), nullptr, octets(key), octets(nonce)) == 1 &&
                       EVP_EncryptUpdate(cipher.get(), octets(sealed), &size, octets(text), static_cast<int>(text.size())) == 1 &&
                       EVP_EncryptFinal_ex(cipher.get(), octets(sealed) + size, &rest) == 1 &&
                       EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, tag_size, octets(sealed) + text.size()) == 1;
  if (!is_fine) return problem(Code::internal, "encrypting");
  return sealed;
}

// Nothing if the text was not sealed with this key and nonce.
std::optional<std::string> unseal(std::string_view key, std::string_view nonce, std::string_view sealed) {
  if (sealed.size() < tag_size) return {};
  const std::string_view text = sealed.substr(0, sealed.size() - tag_size);
  std::string tag(sealed.substr(text.size())), opened(text.size(), '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int size = 0, rest = 0;
  const bool is_fine = cipher &&
                       EVP_DecryptInit_ex(cipher.get(), EVP_chacha20_poly1305(), nullptr, octets(key), octets(nonce)) == 1 &&
                       EVP_DecryptUpdate(cipher.get(), octets(opened), &size, octets(text), static_cast<int>(text.size())) == 1 &&
                       EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, octets(tag)) == 1 &&
                       EVP_DecryptFinal_ex(cipher.get(), octets(opened) + size, &rest) == 1;
  ERR_clear_error();
  return is_fine ? std::optional(opened) : std::nullopt;
}

// The nonce of a chunk: its number, and whether it is the last.
std::string chunk_nonce(std::uint64_t number, bool is_last) {
  std::string nonce(nonce_size, '\0');
  for (std::size_t i = 0; i < sizeof(number); ++i) nonce[nonce_size - 2 - i] = static_cast<char>(number >> (8 * i) & 0xff);
  nonce.back() = is_last ? '\x01' : '\0';
  return nonce;
}

// ---- header

std::string without_padding(std::string text) {
  while (text.ends_with('=')) text.pop_back();
  return text;
}

Result<std::string> decode(std::string_view text) {
  return base64_decode(std::string(text) + std::string((4 - text.size() % 4) % 4, '='));
}

std::string wrapping_key(std::string_view secret, std::string_view share, std::string_view recipient) {
  return derive(secret, std::string(share) + std::string(recipient), "age-encryption.org/v1/X25519");
}

std::string header_mac(std::string_view file_key, std::string_view header) {
  return without_padding(base64_encode(hmac_sha256(derive(file_key, "", "header"), header)));
}

Result<std::string> make_header(sys::Random& random, std::string_view file_key, const std::vector<std::string>& recipients) {
  std::string header = std::string(version_line) + "\n";
  for (const std::string& recipient : recipients) {
    const std::optional<std::string> to = bech32_key(recipient, recipient_prefix);
    if (!to) return error(Code::invalid, "'{}': not a public key of age", recipient);
    const std::string own = TRY(random.bytes(key_size));
    const Key key = TRY(private_key(own));
    const std::string share = TRY(public_bytes(key));
    const std::string secret = TRY(shared_secret(key, *to).context(recipient));
    const std::string wrapped = TRY(seal(wrapping_key(secret, share, *to), std::string(nonce_size, '\0'), file_key));
    header += fmt::format("{}{}\n{}\n", stanza, without_padding(base64_encode(share)), without_padding(base64_encode(wrapped)));
  }
  header += "---";
  return fmt::format("{} {}\n", header, header_mac(file_key, header));
}

struct Header {
  struct Stanza {
    std::string share, wrapped;
  };
  std::vector<Stanza> stanzas{};  // of X25519
  std::string covered{};          // by the MAC
  std::string mac{};
};

Error not_age() { return error(Code::invalid, "not a file that age or slipway encrypted"); }

Result<Header> read_header(std::istream& in) {
  Header header;
  std::string line;
  bool is_first = true, is_ours = false;
  std::string share;
  while (std::getline(in, line) && header.covered.size() < longest_header) {
    if (is_first && line != version_line) return not_age();
    is_first = false;
    if (line.starts_with("--- ")) {
      header.covered += "---";
      header.mac = line.substr(4);
      return header;
    }
    header.covered += line + "\n";
    if (is_ours) {
      std::string decoded_share = TRY(decode(share)), body = TRY(decode(line));
      header.stanzas.push_back({std::move(decoded_share), std::move(body)});
      is_ours = false;
    } else if (line.starts_with(stanza)) {
      share = line.substr(stanza.size());
      is_ours = true;
    }
  }
  return not_age();
}

// errors: denied: none of the identities opens the file
Result<std::string> find_file_key(const Header& header, const std::vector<std::string>& identities) {
  for (const std::string& identity : identities) {
    const Key key = TRY(private_key(identity));
    const std::string own = TRY(public_bytes(key));
    for (const Header::Stanza& each : header.stanzas) {
      if (each.share.size() != key_size) return not_age();
      const std::string secret = TRY(shared_secret(key, each.share));
      std::optional<std::string> file_key =
          unseal(wrapping_key(secret, each.share, own), std::string(nonce_size, '\0'), each.wrapped);
      if (!file_key || file_key->size() != file_key_size) continue;
      if (header_mac(*file_key, header.covered) != header.mac) return error(Code::invalid, "its header was changed");
      return *file_key;
    }
  }
  return error(Code::denied, "it is encrypted to other keys than the given ones");
}

Result<std::vector<std::string>> parse_identities(const Secret& text) {
  std::vector<std::string> identities;
  for (const std::string_view line : split(text.reveal(), '\n')) {
    const std::string_view word = trim(line);
    if (word.empty() || word.starts_with('#')) continue;
    std::optional<std::string> key = bech32_key(to_lower(word), identity_prefix);
    if (!key) return error(Code::invalid, "a line is not a private key of age, AGE-SECRET-KEY-1...");
    identities.push_back(std::move(*key));
  }
  if (identities.empty()) return error(Code::invalid, "no private key of age, AGE-SECRET-KEY-1...");
  return identities;
}

// ---- content

// Reads a file in chunks of a size, and knows which one is the last.
class ChunkReader {
 public:
  ChunkReader(std::istream& in, std::size_t size) : in_(in), size_(size) {}

  std::string next() {
    std::string chunk(size_, '\0');
    in_.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    chunk.resize(static_cast<std::size_t>(in_.gcount()));
    return chunk;
  }
  bool is_at_end() { return in_.peek() == std::char_traits<char>::eof(); }

 private:
  std::istream& in_;
  const std::size_t size_;
};

// Appends to a file some chunks at once.
class Appender {
 public:
  Appender(sys::Files& files, const std::string& path) : files_(files), path_(path) {}

  Result<> add(std::string_view bytes) {
    pending_ += bytes;
    return pending_.size() < chunks_at_once * chunk_size ? Result<>(Ok{}) : flush();
  }
  Result<> flush() {
    TRY(files_.append(path_, pending_, 0600));
    pending_.clear();
    return Ok{};
  }

 private:
  sys::Files& files_;
  const std::string& path_;
  std::string pending_{};
};

Result<std::ifstream> open(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(errno == ENOENT ? Code::not_found : Code::denied, "{}: {}", path, std::strerror(errno));
  return in;
}

Result<> decrypt(std::istream& in, const std::vector<std::string>& identities, Appender& out) {
  const Header header = TRY(read_header(in));
  const std::string file_key = TRY(find_file_key(header, identities));
  std::string nonce(payload_nonce_size, '\0');
  if (!in.read(nonce.data(), static_cast<std::streamsize>(nonce.size()))) return error(Code::invalid, "it is cut off");
  const std::string key = derive(file_key, nonce, "payload");
  ChunkReader chunks(in, chunk_size + tag_size);
  for (std::uint64_t number = 0;; ++number) {
    const std::string sealed = chunks.next();
    const bool is_last = chunks.is_at_end();
    const std::optional<std::string> chunk = unseal(key, chunk_nonce(number, is_last), sealed);
    if (!chunk) return error(Code::invalid, "it is damaged or cut off");
    TRY(out.add(*chunk));
    if (is_last) return out.flush();
  }
}

}  // namespace

Result<> check_age_recipient(std::string_view recipient) {
  if (bech32_key(recipient, recipient_prefix)) return Ok{};
  return error(Code::invalid, "'{}': not a public key of age (age-keygen prints one: age1...)", recipient);
}

Result<> encrypt_file(sys::Files& files, sys::Random& random, const std::string& from, const std::string& to,
                      const std::vector<std::string>& recipients) {
  if (recipients.empty()) return error(Code::invalid, "no public key to encrypt to");
  std::ifstream in = TRY(open(from));
  TRY(files.remove(to));
  const std::string file_key = TRY(random.bytes(file_key_size)), nonce = TRY(random.bytes(payload_nonce_size));
  Appender out(files, to);
  TRY(out.add(TRY(make_header(random, file_key, recipients))));
  TRY(out.add(nonce));
  const std::string key = derive(file_key, nonce, "payload");
  ChunkReader chunks(in, chunk_size);
  for (std::uint64_t number = 0;; ++number) {
    const std::string chunk = chunks.next();
    const bool is_last = chunks.is_at_end();
    if (in.bad()) return error(Code::unavailable, "{}: cannot be read", from);
    TRY(out.add(TRY(seal(key, chunk_nonce(number, is_last), chunk))));
    if (is_last) return out.flush();
  }
}

Result<> decrypt_file(sys::Files& files, const std::string& from, const std::string& to, const Secret& identities) {
  const std::vector<std::string> keys = TRY(parse_identities(identities));
  std::ifstream in = TRY(open(from));
  TRY(files.remove(to));
  Appender out(files, to);
  const Result<> done = decrypt(in, keys, out).context(from);
  if (!done.ok()) TRY(files.remove(to));
  return done;
}

}  // namespace slipway::net
