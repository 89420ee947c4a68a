#include "net/x509.h"

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"
#include "net/ip.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

namespace slipway::net {

namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

void free_extensions(STACK_OF(X509_EXTENSION) * list) { sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free); }
void free_bytes(void* bytes) { OPENSSL_free(bytes); }

using Bio = Handle<BIO, BIO_free>;
using Key = Handle<EVP_PKEY, EVP_PKEY_free>;
using Cert = Handle<X509, X509_free>;
using CertRequest = Handle<X509_REQ, X509_REQ_free>;
using Name = Handle<X509_NAME, X509_NAME_free>;
using Time = Handle<ASN1_TIME, ASN1_TIME_free>;
using Names = Handle<GENERAL_NAMES, GENERAL_NAMES_free>;
using Extension = Handle<X509_EXTENSION, X509_EXTENSION_free>;
using Extensions = Handle<STACK_OF(X509_EXTENSION), free_extensions>;
template <class T>
using Bytes = Handle<T, free_bytes>;

// What OpenSSL says about the failure, if anything.
Error problem(Code code, std::string_view doing) {
  const char* words = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return words == nullptr ? error(code, "{}", doing) : error(code, "{}: {}", doing, words);
}

// Nobody is asked for a passphrase.
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

// One block of a PEM text. The data may be a secret; it is wiped.
struct Block {
  std::string name;
  std::string data;

  Block(std::string_view n, std::string_view d) : name(n), data(d) {}
  Block(Block&&) = default;
  ~Block() { OPENSSL_cleanse(data.data(), data.size()); }
};

// The next block; none at the end, or when it is broken: what OpenSSL says then is in its queue.
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

std::string_view view(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// ---- keys

constexpr std::size_t scalar_size = 32, point_size = 65;  // of P-256; the point uncompressed (SEC 1 2.3.3)
constexpr std::string_view before_scalar("\x30\x77\x02\x01\x01\x04\x20", 7);
constexpr std::string_view before_point("\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\xa1\x44\x03\x42\x00", 17);

using Scalar = Handle<BIGNUM, BN_clear_free>;

// A P-256 key in the form that everybody writes (RFC 5915, all fields present), which is one string of 121 bytes. Null when it is
// another. OpenSSL 3.0's general decoder takes twenty times as long, the larger part of making a certificate.
Key read_p256(std::string_view der) {
  const std::size_t point_at = before_scalar.size() + scalar_size + before_point.size();
  if (der.size() != point_at + point_size || !der.starts_with(before_scalar) ||
      der.substr(point_at - before_point.size(), before_point.size()) != before_point) {
    return nullptr;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const Scalar scalar(BN_bin2bn(bytes + before_scalar.size(), scalar_size, nullptr));
  const Handle<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar.get());
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, bytes + point_at, point_size);
  const Handle<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Handle<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = parameters && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) == 1;
  ERR_clear_error();
  return made ? Key(key) : nullptr;
}

Result<Key> read_key(const Secret& pem) {
  if (const std::optional<Block> block = read_block(reader(pem.reveal())); block && block->name == PEM_STRING_ECPRIVATEKEY) {
    if (Key key = read_p256(block->data)) return key;
  }
  ERR_clear_error();
  Key key(PEM_read_bio_PrivateKey(reader(pem.reveal()).get(), nullptr, no_passphrase, nullptr));
  if (!key) return problem(Code::invalid, "the private key cannot be read");
  return key;
}

// errors: invalid: no P-256 key
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
    return error(Code::invalid, "the private key is none of ECDSA P-256");
  }
  return point;
}

Result<Key> generate_key() {
  Key key(EVP_EC_gen("P-256"));
  if (!key) return problem(Code::internal, "making a key");
  return key;
}

Result<Secret> key_pem(const Key& key) {
  const Bio out = writer();
  if (PEM_write_bio_PrivateKey_traditional(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return problem(Code::internal, "writing a key");
  }
  return Secret(written(out));
}

// Edwards curves bring their own.
const EVP_MD* digest_for(const EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  return kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448 ? nullptr : EVP_sha256();
}

// ---- names

Result<> add_part(X509_NAME* name, int kind, const std::string& text) {
  if (text.empty() || !is_utf8(text) || text.find('\0') != std::string::npos) {
    return error(Code::invalid, "'{}' cannot stand in the subject of a certificate", to_utf8(text));
  }
  // A plain type, not MBSTRING_UTF8: that would hold X.520's limit of 64 characters against the names of service accounts.
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (X509_NAME_add_entry_by_NID(name, kind, V_ASN1_UTF8STRING, bytes, static_cast<int>(text.size()), -1, 0) != 1) {
    return problem(Code::internal, "writing a subject");
  }
  return Ok{};
}

Result<Name> make_name(const SubjectName& subject) {
  Name name(X509_NAME_new());
  for (const std::string& organization : subject.organizations) TRY(add_part(name.get(), NID_organizationName, organization));
  for (const std::string& unit : subject.organizational_units) TRY(add_part(name.get(), NID_organizationalUnitName, unit));
  if (!subject.common_name.empty()) TRY(add_part(name.get(), NID_commonName, subject.common_name));
  return name;
}

Result<SubjectName> read_name(const X509_NAME* name) {
  SubjectName subject;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    unsigned char* bytes = nullptr;
    const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) return problem(Code::invalid, "a name cannot be read");
    const Bytes<unsigned char> owner(bytes);
    std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
    switch (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) {
      case NID_commonName: subject.common_name = std::move(text); break;  // of several, Go too takes the last
      case NID_organizationName: subject.organizations.push_back(std::move(text)); break;
      case NID_organizationalUnitName: subject.organizational_units.push_back(std::move(text)); break;
      default: break;
    }
  }
  return subject;
}

struct AlternativeNames {
  std::vector<std::string> dns;
  std::vector<std::string> ip;
  bool others = false;
};

void add_alternative(GENERAL_NAMES* names, int kind, int string_type, std::string_view bytes) {
  ASN1_STRING* text = ASN1_STRING_type_new(string_type);
  GENERAL_NAME* name = GENERAL_NAME_new();
  CHECK(text != nullptr && name != nullptr);
  CHECK(ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size())) == 1);
  GENERAL_NAME_set0_value(name, kind, text);
  CHECK(sk_GENERAL_NAME_push(names, name) > 0);
}

Result<Names> make_alternatives(const std::vector<std::string>& dns_names, const std::vector<std::string>& ip_addresses) {
  Names names(GENERAL_NAMES_new());
  for (const std::string& name : dns_names) {
    if (name.empty() || std::ranges::any_of(name, [](char c) { return c <= ' ' || c == '\x7f'; })) {
      return error(Code::invalid, "'{}' is no DNS name", to_utf8(name));
    }
    add_alternative(names.get(), GEN_DNS, V_ASN1_IA5STRING, name);
  }
  for (const std::string& text : ip_addresses) {
    const IpAddress address = TRY(parse_ip(text));
    const auto* bytes = reinterpret_cast<const char*>(address.bytes().data());
    add_alternative(names.get(), GEN_IPADD, V_ASN1_OCTET_STRING, {bytes, address.is_v4() ? 4u : 16u});
  }
  return names;
}

std::optional<std::string> ip_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned value = static_cast<unsigned char>(bytes[i]);
    if (bytes.size() == 4) text += fmt::format("{}{}", i == 0 ? "" : ".", value);
    if (bytes.size() == 16) text += fmt::format("{}{:02x}", i == 0 || i % 2 != 0 ? "" : ":", value);
  }
  const Result<IpAddress> address = parse_ip(text);
  return address.ok() ? std::optional(to_string(address.value())) : std::nullopt;
}

Result<AlternativeNames> read_alternatives(const STACK_OF(X509_EXTENSION) * extensions) {
  AlternativeNames found;
  int critical = -1;
  const Names names(static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions, NID_subject_alt_name, &critical, nullptr)));
  if (!names) {
    if (critical != -1) return problem(Code::invalid, "the alternative names cannot be read");
    return found;
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int kind = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind);
    const bool is_text = kind == GEN_DNS || kind == GEN_IPADD;
    const std::string_view bytes = is_text ? view(static_cast<const ASN1_STRING*>(value)) : std::string_view();
    std::optional<std::string> address = kind == GEN_IPADD ? ip_text(bytes) : std::nullopt;
    if (kind == GEN_DNS) {
      found.dns.emplace_back(bytes);
    } else if (address) {
      found.ip.push_back(*address);
    } else {
      found.others = true;
    }
  }
  return found;
}

// ---- certificates

// All of a PEM text.
Result<std::vector<Cert>> read_certificates(std::string_view pem) {
  const Bio bio = reader(pem);
  std::vector<Cert> certificates;
  while (const std::optional<Block> block = read_block(bio)) {
    if (block->name != PEM_STRING_X509) continue;
    const auto* const data = reinterpret_cast<const unsigned char*>(block->data.data());
    const unsigned char* at = data;
    Cert certificate(d2i_X509(nullptr, &at, static_cast<long>(block->data.size())));
    if (!certificate || at != data + block->data.size()) {
      return problem(Code::invalid, fmt::format("certificate {} cannot be read", certificates.size() + 1));
    }
    certificates.push_back(std::move(certificate));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) return problem(Code::invalid, "PEM text cannot be read");
  ERR_clear_error();
  if (certificates.empty()) return error(Code::invalid, "there is no certificate in the text");
  return certificates;
}

Result<Cert> read_certificate(std::string_view pem) {
  std::vector<Cert> certificates = TRY(read_certificates(pem));
  return std::move(certificates.front());
}

Result<std::string> certificate_pem(X509* certificate) {
  const Bio out = writer();
  if (PEM_write_bio_X509(out.get(), certificate) != 1) return problem(Code::internal, "writing a certificate");
  return written(out);
}

Result<Time> make_time(WallTime time) {
  Time made(ASN1_TIME_set(nullptr, std::chrono::floor<Seconds>(time).time_since_epoch().count()));
  if (!made) return problem(Code::invalid, "the time of a certificate");
  return made;
}

Result<WallTime> read_time(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return problem(Code::invalid, "the time of a certificate cannot be read");
  return WallTime(Seconds(timegm(&parts)));
}

Result<> set_times(X509* certificate, const CertificateSpec& spec) {
  const Time from = TRY(make_time(spec.valid_from));
  const Time to = TRY(make_time(spec.valid_from + spec.valid_for));
  CHECK(X509_set1_notBefore(certificate, from.get()) == 1 && X509_set1_notAfter(certificate, to.get()) == 1);
  return Ok{};
}

Result<> set_serial(X509* certificate) {
  std::uint64_t serial = 0;
  while (serial == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1)
      return problem(Code::internal, "a serial number");
    serial >>= 1;
  }
  CHECK(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1);
  return Ok{};
}

Result<> add_extensions(X509* certificate, const CertificateSpec& spec, X509* issuer) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  auto add = [&](int kind, const char* value) -> Result<> {
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return problem(Code::internal, "an extension");
    return Ok{};
  };
  TRY(add(NID_basic_constraints, spec.is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE"));
  TRY(add(NID_key_usage,
          spec.is_ca ? "critical,digitalSignature,keyEncipherment,keyCertSign" : "critical,digitalSignature,keyEncipherment"));
  if (spec.server_auth || spec.client_auth) {
    TRY(add(NID_ext_key_usage, !spec.client_auth ? "serverAuth" : !spec.server_auth ? "clientAuth" : "serverAuth,clientAuth"));
  }
  TRY(add(NID_subject_key_identifier, "hash"));
  if (issuer != certificate && X509_get0_subject_key_id(issuer) != nullptr) TRY(add(NID_authority_key_identifier, "keyid"));
  if (spec.dns_names.empty() && spec.ip_addresses.empty()) return Ok{};
  const Names names = TRY(make_alternatives(spec.dns_names, spec.ip_addresses));
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1) {
    return problem(Code::internal, "the alternative names");
  }
  return Ok{};
}

// Who signs: a certificate and its key.
struct Issuer {
  Cert certificate;
  Key key;
};

Result<Issuer> read_issuer(const Certificate& pair) {
  Issuer issuer;
  issuer.certificate = TRY(read_certificate(pair.pem).context("the issuer"));
  issuer.key = TRY(read_key(pair.key).context("the issuer"));
  if (X509_check_ca(issuer.certificate.get()) != 1) return error(Code::invalid, "the issuer is no certificate authority");
  if (X509_check_private_key(issuer.certificate.get(), issuer.key.get()) != 1) {
    ERR_clear_error();
    return error(Code::invalid, "the issuer's key belongs to another certificate");
  }
  return issuer;
}

// The same as X509_set_pubkey, without its decoding of what it just encoded.
Result<> set_p256(X509* certificate, const EVP_PKEY* key) {
  const std::string point = TRY(point_of(key));
  auto* bytes = static_cast<unsigned char*>(OPENSSL_memdup(point.data(), point.size()));
  CHECK(X509_PUBKEY_set0_param(X509_get_X509_PUBKEY(certificate), OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
                               OBJ_nid2obj(NID_X9_62_prime256v1), bytes, static_cast<int>(point.size())) == 1);
  return Ok{};
}

// Finishes a certificate that has its public key: signed by the issuer, or by itself with `own_key` when there is none.
Result<std::string> finish(X509* certificate, const X509_NAME* subject, const CertificateSpec& spec, const Issuer* issuer,
                           EVP_PKEY* own_key) {
  X509* const issuer_certificate = issuer == nullptr ? certificate : issuer->certificate.get();
  EVP_PKEY* const signing_key = issuer == nullptr ? own_key : issuer->key.get();
  if (X509_set_version(certificate, X509_VERSION_3) != 1 || X509_set_subject_name(certificate, subject) != 1 ||
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer_certificate)) != 1) {
    return problem(Code::internal, "making a certificate");
  }
  TRY(set_serial(certificate));
  TRY(set_times(certificate, spec));
  TRY(add_extensions(certificate, spec, issuer_certificate));
  if (X509_sign(certificate, signing_key, digest_for(signing_key)) == 0) return problem(Code::internal, "signing a certificate");
  return certificate_pem(certificate);
}

constexpr std::array key_usage_names = {
    std::pair{KU_DIGITAL_SIGNATURE, "Digital Signature"},
    std::pair{KU_NON_REPUDIATION, "Non Repudiation"},
    std::pair{KU_KEY_ENCIPHERMENT, "Key Encipherment"},
    std::pair{KU_DATA_ENCIPHERMENT, "Data Encipherment"},
    std::pair{KU_KEY_AGREEMENT, "Key Agreement"},
    std::pair{KU_KEY_CERT_SIGN, "Certificate Sign"},
    std::pair{KU_CRL_SIGN, "CRL Sign"},
    std::pair{KU_ENCIPHER_ONLY, "Encipher Only"},
    std::pair{KU_DECIPHER_ONLY, "Decipher Only"},
};

// As it stands, so that keys of kinds that OpenSSL does not know are shown too.
Result<std::string> public_key_pem(const X509_PUBKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(key, &der);
  if (size <= 0) return problem(Code::invalid, "the public key cannot be read");
  const Bytes<unsigned char> owner(der);
  const Bio out = writer();
  CHECK(PEM_write_bio(out.get(), PEM_STRING_PUBLIC, "", der, size) > 0);
  return written(out);
}

Result<std::string> decimal(const ASN1_INTEGER* number) {
  const Handle<BIGNUM, BN_free> value(ASN1_INTEGER_to_BN(number, nullptr));
  const Bytes<char> text(value ? BN_bn2dec(value.get()) : nullptr);
  if (!text) return problem(Code::invalid, "the serial number cannot be read");
  return std::string(text.get());
}

Result<CertificateInfo> describe(X509* certificate) {
  CertificateInfo info;
  info.subject = TRY(read_name(X509_get_subject_name(certificate)));
  info.issuer = TRY(read_name(X509_get_issuer_name(certificate)));
  info.serial = TRY(decimal(X509_get0_serialNumber(certificate)));
  info.is_ca = X509_check_ca(certificate) == 1;
  constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t extended = X509_get_extended_key_usage(certificate);
  info.server_auth = extended != absent && (extended & XKU_SSL_SERVER) != 0;
  info.client_auth = extended != absent && (extended & XKU_SSL_CLIENT) != 0;
  const std::uint32_t usage = X509_get_key_usage(certificate);
  for (const auto& [bit, name] : key_usage_names) {
    if (usage != absent && (usage & static_cast<std::uint32_t>(bit)) != 0) info.key_usages.emplace_back(name);
  }
  AlternativeNames names = TRY(read_alternatives(X509_get0_extensions(certificate)));
  info.dns_names = std::move(names.dns);
  info.ip_addresses = std::move(names.ip);
  info.not_before = TRY(read_time(X509_get0_notBefore(certificate)));
  info.not_after = TRY(read_time(X509_get0_notAfter(certificate)));
  info.public_key = TRY(public_key_pem(X509_get_X509_PUBKEY(certificate)));
  ERR_clear_error();
  return info;
}

// ---- requests

// With its own signature checked.
Result<CertRequest> read_request(std::string_view pem) {
  CertRequest request(PEM_read_bio_X509_REQ(reader(pem).get(), nullptr, no_passphrase, nullptr));
  if (!request) return problem(Code::invalid, "the certificate request cannot be read");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr) return problem(Code::invalid, "the key of the certificate request cannot be read");
  if (X509_REQ_verify(request.get(), key) != 1)
    return problem(Code::invalid, "the certificate request was not signed by its key");
  return request;
}

void append_ssh_string(std::string& wire, std::string_view text) {
  for (int shift = 24; shift >= 0; shift -= 8) wire += static_cast<char>(text.size() >> shift & 0xff);
  wire += text;
}

}  // namespace

Result<Certificate> make_certificate(const CertificateSpec& spec, const Certificate* issuer) {
  std::optional<Issuer> signer;
  if (issuer != nullptr) signer = TRY(read_issuer(*issuer));
  const Key key = TRY(generate_key());
  const Name subject = TRY(make_name(spec.subject));
  Certificate made;
  const Cert certificate(X509_new());
  TRY(set_p256(certificate.get(), key.get()));
  made.pem = TRY(finish(certificate.get(), subject.get(), spec, signer ? &*signer : nullptr, key.get()));
  made.key = TRY(key_pem(key));
  return made;
}

Result<std::string> sign_request(std::string_view request_pem, const CertificateSpec& spec, const Certificate& issuer) {
  const CertRequest request = TRY(read_request(request_pem));
  const Issuer signer = TRY(read_issuer(issuer));
  const Cert certificate(X509_new());
  if (X509_set_pubkey(certificate.get(), X509_REQ_get0_pubkey(request.get())) != 1)
    return problem(Code::internal, "copying a key");
  return finish(certificate.get(), X509_REQ_get_subject_name(request.get()), spec, &signer, nullptr);
}

Result<Secret> make_key() { return key_pem(TRY(generate_key())); }

Result<std::string> public_key(const Secret& key) {
  const Key read = TRY(read_key(key));
  const Bio out = writer();
  if (PEM_write_bio_PUBKEY(out.get(), read.get()) != 1) return problem(Code::invalid, "the key has no public half");
  return written(out);
}

Result<std::string> authorized_key(const Secret& key, std::string_view comment) {
  const Key read = TRY(read_key(key));
  std::string wire;  // RFC 5656 3.1
  append_ssh_string(wire, "ecdsa-sha2-nistp256");
  append_ssh_string(wire, "nistp256");
  append_ssh_string(wire, TRY(point_of(read.get())));
  const std::string line = fmt::format("ecdsa-sha2-nistp256 {}", base64_encode(wire));
  return comment.empty() ? line : fmt::format("{} {}", line, comment);
}

Result<std::vector<CertificateInfo>> parse_certificates(std::string_view pem) {
  std::vector<CertificateInfo> infos;
  for (const Cert& certificate : TRY(read_certificates(pem))) infos.push_back(TRY(describe(certificate.get())));
  return infos;
}

Result<CertificateInfo> parse_certificate(std::string_view pem) {
  const Cert certificate = TRY(read_certificate(pem));
  return describe(certificate.get());
}

Result<std::vector<std::string>> split_certificates(std::string_view pem) {
  std::vector<std::string> parts;
  for (const Cert& certificate : TRY(read_certificates(pem))) parts.push_back(TRY(certificate_pem(certificate.get())));
  return parts;
}

Result<bool> is_signed_by(std::string_view certificate, std::string_view issuer) {
  const Cert signed_one = TRY(read_certificate(certificate));
  const Cert signer = TRY(read_certificate(issuer).context("the issuer"));
  EVP_PKEY* key = X509_get0_pubkey(signer.get());
  if (key == nullptr) return problem(Code::invalid, "the issuer's key cannot be read");
  const bool is_signed = X509_verify(signed_one.get(), key) == 1;
  ERR_clear_error();
  return is_signed;
}

Result<bool> key_fits(std::string_view certificate, const Secret& key) {
  const Cert read = TRY(read_certificate(certificate));
  const Key own = TRY(read_key(key));
  const bool fits = X509_check_private_key(read.get(), own.get()) == 1;
  ERR_clear_error();
  return fits;
}

Result<std::string> make_request(const Secret& key, const SubjectName& subject, const std::vector<std::string>& dns_names,
                                 const std::vector<std::string>& ip_addresses) {
  const Key own = TRY(read_key(key));
  const Name name = TRY(make_name(subject));
  const CertRequest request(X509_REQ_new());
  if (X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 || X509_REQ_set_subject_name(request.get(), name.get()) != 1 ||
      X509_REQ_set_pubkey(request.get(), own.get()) != 1) {
    return problem(Code::internal, "making a certificate request");
  }
  if (!dns_names.empty() || !ip_addresses.empty()) {
    const Names names = TRY(make_alternatives(dns_names, ip_addresses));
    STACK_OF(X509_EXTENSION)* list = nullptr;
    const bool made = X509V3_add1_i2d(&list, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1;
    const Extensions extensions(list);
    if (!made || X509_REQ_add_extensions(request.get(), list) != 1) return problem(Code::internal, "the alternative names");
  }
  if (X509_REQ_sign(request.get(), own.get(), digest_for(own.get())) == 0) {
    return problem(Code::internal, "signing a certificate request");
  }
  const Bio out = writer();
  CHECK(PEM_write_bio_X509_REQ(out.get(), request.get()) == 1);
  return written(out);
}

Result<RequestInfo> parse_request(std::string_view pem) {
  const CertRequest request = TRY(read_request(pem));
  RequestInfo info;
  info.subject = TRY(read_name(X509_REQ_get_subject_name(request.get())));
  const Extensions extensions(X509_REQ_get_extensions(request.get()));
  AlternativeNames names = TRY(read_alternatives(extensions.get()));
  info.dns_names = std::move(names.dns);
  info.ip_addresses = std::move(names.ip);
  info.has_other_names = names.others;
  ERR_clear_error();
  return info;
}

}  // namespace slipway::net
