// Keys, certificates and certificate requests: create, read, verify. New keys are ECDSA P-256 by default: a hundred times faster
// to generate than RSA 2048 and accepted by all programs of a cluster (docs/decisions/0006-p256-keys.md). Keys of any type can
// be read.
//
//   Certificate ca = TRY(make_certificate({.subject = {.common_name = "root-ca", .organizational_units = {"openshift"}},
//                                          .is_ca = true, .valid_from = now, .valid_for = days(3650)}, nullptr));
//   Certificate server = TRY(make_certificate({.subject = {.common_name = "api"}, .server_auth = true, .dns_names = {"api.demo"},
//                                          .valid_from = now, .valid_for = days(1)}, &ca));
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "sys/random.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

struct SubjectName {
  std::string common_name;
  std::vector<std::string> organizations{};         // O; the groups of a Kubernetes client
  std::vector<std::string> organizational_units{};  // OU

  bool operator==(const SubjectName&) const = default;
};

enum class KeyType { p256, rsa2048 };

struct CertificateSpec {
  SubjectName subject;
  bool is_ca = false;
  // Key usage: a CA has digitalSignature, keyEncipherment and keyCertSign; others have the first two, or no key usage.
  bool has_key_usage = true;
  bool server_auth = false;
  bool client_auth = false;
  std::vector<std::string> dns_names{};
  std::vector<std::string> ip_addresses{};
  WallTime valid_from{};
  Seconds valid_for{0};
  std::optional<Secret> key{};    // the certificate's key; by default a new P-256 key
  sys::Random* random = nullptr;  // source of the key, the serial and the signature; null: the system's
};

// A certificate with its private key, both PEM. `pem` starts with the certificate and may contain others after it.
struct Certificate {
  std::string pem;
  Secret key;

  bool operator==(const Certificate&) const = default;
};

// Creates a key and its certificate, signed by `issuer`, or self-signed if issuer is null. Version 3, a random serial below
// 2^63, critical basicConstraints and keyUsage, subject key identifier (SHA-1 of the public key), authority key identifier if
// there is an issuer. The subject is O, OU, CN, each value in its own part.
//
//   errors  invalid: a malformed address, an issuer that is not a CA or whose key does not fit; internal
//   random  spec.random: the same numbers give the same certificate, including its signature
//   time    0.2 ms, 0.6 ms with an issuer; RSA 1 ms; plus the key
Result<Certificate> make_certificate(const CertificateSpec& spec, const Certificate* issuer);

// Signs the request of a client that has the private key. Takes only the subject and the public key from the request, the rest
// from `spec`, whose subject is ignored.
Result<std::string> sign_request(std::string_view request_pem, const CertificateSpec& spec, const Certificate& issuer);

// Generates a private key, PEM ("EC PRIVATE KEY", "RSA PRIVATE KEY").
//
//   random  source of its numbers: the same numbers give the same key; null: the system's
//   time    P-256 0.05 ms, RSA 50 to 200 ms
Result<Secret> make_key(KeyType type = KeyType::p256, sys::Random* random = nullptr);

// Extracts the private key of a PEM text, which may also contain certificates. errors: invalid: no key
Result<Secret> private_key(const Secret& pem);

// The public key of a private key, PEM ("PUBLIC KEY"). errors: invalid: no key
Result<std::string> public_key(const Secret& key);

// The signature of a text by an ECDSA or RSA key, with SHA-256, or by an Ed25519 key; DER for ECDSA. errors: invalid: no key; internal
Result<std::string> sign(const Secret& key, std::string_view text);

// Whether the private key of `public_key` (PEM, "PUBLIC KEY"; Ed25519 or ECDSA with SHA-256, DER) signed the text.
// errors: invalid: no public key
Result<bool> is_signature_of(std::string_view public_key, std::string_view text, std::string_view signature);

// The type of a private key, as OpenSSL names it: "RSA", "EC", "ED25519". errors: invalid: no key
Result<std::string> key_algorithm(const Secret& key);

// The public key as a line of authorized_keys: "ecdsa-sha2-nistp256 AAAA... comment", "ssh-rsa AAAA... comment".
// errors: invalid: neither P-256 nor RSA
Result<std::string> authorized_key(const Secret& key, std::string_view comment);

// The content of a certificate.
struct CertificateInfo {
  SubjectName subject;
  SubjectName issuer;
  std::string serial;  // decimal
  bool is_ca = false;
  bool server_auth = false;
  bool client_auth = false;
  std::vector<std::string> key_usages;  // as OpenSSL names them, "Digital Signature"
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  WallTime not_before{};
  WallTime not_after{};
  std::string public_key;  // PEM

  bool operator==(const CertificateInfo&) const = default;
};

// All certificates of a PEM text, in order. Ignores other blocks and the text between them.
// errors: invalid: no certificate, or a malformed one
Result<std::vector<CertificateInfo>> parse_certificates(std::string_view pem);
Result<CertificateInfo> parse_certificate(std::string_view pem);  // the first one

// The certificates of a PEM text as separate PEM texts, re-encoded.
Result<std::vector<std::string>> split_certificates(std::string_view pem);

// Whether the first certificate of `issuer` signed `certificate`. Checks only the signature, not the time. errors: invalid
Result<bool> is_signed_by(std::string_view certificate, std::string_view issuer);

// Whether the private key belongs to the first certificate. errors: invalid
Result<bool> key_fits(std::string_view certificate, const Secret& key);

// Creates a certificate request (PKCS#10, PEM) for a key. errors: as make_certificate
Result<std::string> make_request(const Secret& key, const SubjectName& subject, const std::vector<std::string>& dns_names,
                                 const std::vector<std::string>& ip_addresses);

struct RequestInfo {
  SubjectName subject;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  bool has_other_names = false;  // alternative names include e-mail addresses or URIs
  std::string public_key{};      // PEM; the requester has the private key

  bool operator==(const RequestInfo&) const = default;
};

// Reads a request and verifies its own signature. errors: invalid
Result<RequestInfo> parse_request(std::string_view pem);

// bcrypt hash of a password ("$2a$10$..."), as in Kubernetes' kubeadmin secret. cost: 4 to 31; 10 takes 50 ms
// errors: invalid: a password of more than 72 bytes or with a zero byte, a cost out of range, a salt without exactly 16 bytes
Result<std::string> bcrypt(const Secret& password, int cost, std::string_view salt16);

}  // namespace slipway::net
