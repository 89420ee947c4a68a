// Shared by the files that implement x509.h and age.h: OpenSSL's objects as handles that free themselves, and conversions between
// them and slipway's types. For the files x509_*.cpp and age.cpp only.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "net/x509.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

inline void free_extensions(STACK_OF(X509_EXTENSION) * list) { sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free); }
inline void free_bytes(void* bytes) { OPENSSL_free(bytes); }

using Bio = Handle<BIO, BIO_free>;
using Number = Handle<BIGNUM, BN_clear_free>;
using Parameters = Handle<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
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

// The reason of the last OpenSSL failure, if there is one. Clears OpenSSL's error queue.
Error problem(Code code, std::string_view doing);

// ---- text

// For OpenSSL's PEM readers: never prompts for a passphrase.
int no_passphrase(char*, int, int, void*);

Bio reader(std::string_view text);  // the text must outlive it
Bio writer();
std::string written(const Bio& bio);

// One block of a PEM text. The destructor wipes the data, which may be secret.
struct Block {
  std::string name;
  std::string data;

  Block(std::string_view n, std::string_view d) : name(n), data(d) {}
  Block(Block&&) = default;
  ~Block() { OPENSSL_cleanse(data.data(), data.size()); }
};

// The next block; nullopt at the end or if the block is malformed. OpenSSL's error queue then has the reason.
std::optional<Block> read_block(const Bio& bio);

// ---- keys

Result<Key> generate_key(KeyType type, sys::Random* random);  // random null: the system's
Result<Key> draw_rsa(sys::Random& random);                    // 2048 bits
Result<Key> draw_p256(sys::Random& random);
Key build_key(const char* algorithm, const Parameters& parameters);    // null: the parameters do not form a key
Result<Key> build_p256(const BIGNUM* scalar, std::string_view point);  // errors: invalid
Result<Key> read_key(const Secret& pem);                               // errors: invalid
Result<Secret> key_pem(const Key& key);

// The uncompressed point of a P-256 key. errors: invalid: another type of key
Result<std::string> point_of(const EVP_PKEY* key);
// The encoded key as PEM, without decoding it, so that key types unknown to OpenSSL work too. errors: invalid
Result<std::string> public_key_pem(const X509_PUBKEY* key);

// ECDSA with SHA-256, DER. The signature is deterministic (RFC 6979). errors: invalid: a curve without a name
Result<std::string> sign_deterministically(const EVP_PKEY* key, std::string_view text);

// The digest for signatures with a key; null for Edwards curves, which define their own.
const EVP_MD* digest_for(const EVP_PKEY* key);

// ---- names

Result<Name> make_name(const SubjectName& subject);  // errors: invalid
Result<SubjectName> read_name(const X509_NAME* name);

struct AlternativeNames {
  std::vector<std::string> dns;
  std::vector<std::string> ip;
  bool others = false;
};

Result<Names> make_alternatives(const std::vector<std::string>& dns_names, const std::vector<std::string>& ip_addresses);
Result<AlternativeNames> read_alternatives(const STACK_OF(X509_EXTENSION) * extensions);

// ---- certificates and requests

Result<std::vector<Cert>> read_certificates(std::string_view pem);  // all in a PEM text, at least one. errors: invalid
Result<Cert> read_certificate(std::string_view pem);                // the first one
Result<std::string> certificate_pem(X509* certificate);

// Verifies the request's own signature. errors: invalid
Result<CertRequest> read_request(std::string_view pem);

}  // namespace slipway::net
