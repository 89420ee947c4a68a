#include "base/digest.h"
#include "net/openssl.h"
#include "net/x509.h"

#include <array>
#include <optional>

namespace slipway::net {

namespace {

constexpr std::size_t scalar_size = 32, point_size = 65;  // of P-256, uncompressed point (SEC 1 2.3.3)
constexpr std::string_view before_scalar("\x30\x77\x02\x01\x01\x04\x20", 7);
constexpr std::string_view before_point("\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\xa1\x44\x03\x42\x00", 17);

// Reads a P-256 key in its usual encoding (RFC 5915, all fields present), which has 121 bytes. Null for any other encoding.
// OpenSSL 3.0's general decoder takes twenty times as long, which is most of the time to create a certificate.
Key read_p256(std::string_view der) {
  const std::size_t point_at = before_scalar.size() + scalar_size + before_point.size();
  if (der.size() != point_at + point_size || !der.starts_with(before_scalar) ||
      der.substr(point_at - before_point.size(), before_point.size()) != before_point) {
    return nullptr;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const Number scalar(BN_bin2bn(bytes + before_scalar.size(), scalar_size, nullptr));
  Result<Key> key = build_p256(scalar.get(), der.substr(point_at, point_size));
  return key.ok() ? std::move(key).value() : nullptr;
}

// Formats of public keys in OpenSSH: RFC 4253 6.6, RFC 5656 3.1.
void append_ssh_string(std::string& wire, std::string_view text) {
  for (int shift = 24; shift >= 0; shift -= 8) wire += static_cast<char>(text.size() >> shift & 0xff);
  wire += text;
}

Result<> append_ssh_number(std::string& wire, const EVP_PKEY* key, const char* name) {
  BIGNUM* held = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &held) != 1) return problem(Code::invalid, "reading the public key");
  const Number number(held);
  std::string bytes(static_cast<std::size_t>(BN_num_bits(held)) / 8 + 1, '\0');  // the highest bit is the sign
  BN_bn2binpad(held, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  append_ssh_string(wire, bytes);
  return Ok{};
}

}  // namespace

Result<Key> read_key(const Secret& pem) {
  if (const std::optional<Block> block = read_block(reader(pem.reveal())); block && block->name == PEM_STRING_ECPRIVATEKEY) {
    if (Key key = read_p256(block->data)) return key;
  }
  ERR_clear_error();
  Key key(PEM_read_bio_PrivateKey(reader(pem.reveal()).get(), nullptr, no_passphrase, nullptr));
  if (!key) return problem(Code::invalid, "the private key cannot be read");
  return key;
}

Result<std::string> point_of(const EVP_PKEY* key) {
  std::array<char, 32> curve{};
  std::string point(point_size, '\0');
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr) != 1 ||
      std::string_view(curve.data()) != SN_X9_62_prime256v1 ||
      EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, reinterpret_cast<unsigned char*>(point.data()),
                                      point.size(), &size) != 1 ||
      size != point_size) {
    ERR_clear_error();
    return error(Code::invalid, "the private key is not an ECDSA P-256 key");
  }
  return point;
}

Key build_key(const char* algorithm, const Parameters& parameters) {
  const Handle<OSSL_PARAM, OSSL_PARAM_free> built(OSSL_PARAM_BLD_to_param(parameters.get()));
  const Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, algorithm, nullptr));
  EVP_PKEY* key = nullptr;
  const bool is_made = built && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                       EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, built.get()) == 1;
  return is_made ? Key(key) : nullptr;
}

Result<Key> build_p256(const BIGNUM* scalar, std::string_view point) {
  const Parameters parameters(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(parameters.get(), OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0);
  OSSL_PARAM_BLD_push_BN(parameters.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  OSSL_PARAM_BLD_push_octet_string(parameters.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  Key key = build_key("EC", parameters);
  if (!key) return problem(Code::invalid, "reading the numbers of a key");
  return key;
}

Result<Key> generate_key(KeyType type, sys::Random* random) {
  if (random != nullptr) return type == KeyType::rsa2048 ? draw_rsa(*random) : draw_p256(*random);
  Key key(type == KeyType::rsa2048 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"));
  if (!key) return problem(Code::internal, "generating a key");
  return key;
}

Result<Secret> key_pem(const Key& key) {
  const Bio out = writer();
  if (PEM_write_bio_PrivateKey_traditional(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return problem(Code::internal, "writing a key");
  }
  return Secret(written(out));
}

const EVP_MD* digest_for(const EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  return kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448 ? nullptr : EVP_sha256();
}

Result<Secret> make_key(KeyType type, sys::Random* random) { return key_pem(TRY(generate_key(type, random))); }

Result<std::string> key_algorithm(const Secret& key) {
  const Key read = TRY(read_key(key));
  return std::string(EVP_PKEY_get0_type_name(read.get()));
}

Result<Secret> private_key(const Secret& pem) { return key_pem(TRY(read_key(pem))); }

Result<std::string> public_key(const Secret& key) {
  const Key read = TRY(read_key(key));
  const Bio out = writer();
  if (PEM_write_bio_PUBKEY(out.get(), read.get()) != 1) return problem(Code::invalid, "the key has no public key");
  return written(out);
}

Result<std::string> sign(const Secret& key, std::string_view text) {
  const Key read = TRY(read_key(key));
  const Handle<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, digest_for(read.get()), nullptr, read.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) {
    return problem(Code::internal, "preparing a signature");
  }
  std::string signature(size, '\0');
  auto* target = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(context.get(), target, &size, bytes, text.size()) != 1) return problem(Code::internal, "signing");
  signature.resize(size);
  return signature;
}

Result<bool> is_signature_of(std::string_view public_key, std::string_view text, std::string_view signature) {
  const Key key(PEM_read_bio_PUBKEY(reader(public_key).get(), nullptr, no_passphrase, nullptr));
  if (!key) return problem(Code::invalid, "the public key cannot be read");
  const Handle<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const auto bytes = [](std::string_view of) { return reinterpret_cast<const unsigned char*>(of.data()); };
  const bool is_valid = EVP_DigestVerifyInit(context.get(), nullptr, digest_for(key.get()), nullptr, key.get()) == 1 &&
                        EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text), text.size()) == 1;
  ERR_clear_error();
  return is_valid;
}

Result<std::string> authorized_key(const Secret& key, std::string_view comment) {
  const Key read = TRY(read_key(key));
  const bool is_rsa = EVP_PKEY_get_base_id(read.get()) == EVP_PKEY_RSA;
  const std::string_view kind = is_rsa ? "ssh-rsa" : "ecdsa-sha2-nistp256";
  std::string wire;
  append_ssh_string(wire, kind);
  if (is_rsa) {
    TRY(append_ssh_number(wire, read.get(), OSSL_PKEY_PARAM_RSA_E));
    TRY(append_ssh_number(wire, read.get(), OSSL_PKEY_PARAM_RSA_N));
  } else {
    append_ssh_string(wire, "nistp256");
    append_ssh_string(wire, TRY(point_of(read.get())));
  }
  const std::string line = fmt::format("{} {}", kind, base64_encode(wire));
  return comment.empty() ? line : fmt::format("{} {}", line, comment);
}

}  // namespace slipway::net
