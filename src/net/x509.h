// Keys, certificates and certificate requests: made, read, checked. Keys that are made are ECDSA P-256 where nobody asks for
// another type: a hundred times faster to make than RSA 2048 and taken by everything that reads ours
// (docs/decisions/0006-p256-keys.md); keys of any kind are read.
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
  std::vector<std::string> organizations{};         // O; for clients of Kubernetes: their groups
  std::vector<std::string> organizational_units{};  // OU

  bool operator==(const SubjectName&) const = default;
};

enum class KeyType { p256, rsa2048 };

struct CertificateSpec {
  SubjectName subject;
  bool is_ca = false;
  // Key usage: an authority has digitalSignature, keyEncipherment and keyCertSign; others have the first two, or no key usage.
  bool has_key_usage = true;
  bool server_auth = false;
  bool client_auth = false;
  std::vector<std::string> dns_names{};
  std::vector<std::string> ip_addresses{};
  WallTime valid_from{};
  Seconds valid_for{0};
  std::optional<Secret> key{};    // of the certificate; a new one of type P-256 when not given
  sys::Random* random = nullptr;  // where all that is drawn comes from; null: the system's
};

// A certificate with its private key, both PEM. The first certificate of `pem` is its own; others may follow.
struct Certificate {
  std::string pem;
  Secret key;

  bool operator==(const Certificate&) const = default;
};

// Makes a key and a certificate for it, signed by `issuer`, or by itself when that is null. Version 3, a random serial below
// 2^63, critical basicConstraints and keyUsage, subject key identifier (SHA-1 of the public key), the authority's where another
// signs. The subject is O, OU, CN, each value a part of its own.
//
//   errors  invalid: an address that is none, an issuer that is no authority or whose key is another's; internal
//   random  of the spec: the same numbers give the same certificate, its signature too
//   time    0.2 ms, 0.6 ms with an issuer; RSA 1 ms, besides the key
Result<Certificate> make_certificate(const CertificateSpec& spec, const Certificate* issuer);

// The same for a key of somebody else's, who asked for it: only subject and public key are taken from the request, the rest
// from `spec` (whose subject is not looked at).
Result<std::string> sign_request(std::string_view request_pem, const CertificateSpec& spec, const Certificate& issuer);

// A new private key, PEM ("EC PRIVATE KEY", "RSA PRIVATE KEY").
//
//   random  where its numbers come from: the same numbers give the same key; null: the system's
//   time    P-256 0.05 ms, RSA 50 to 200 ms
Result<Secret> make_key(KeyType type = KeyType::p256, sys::Random* random = nullptr);

// The private key of a text that may have certificates, too; alone. errors: invalid: no key
Result<Secret> private_key(const Secret& pem);

// The public half of a private key, PEM ("PUBLIC KEY"). errors: invalid: no key
Result<std::string> public_key(const Secret& key);

// What a private key is, as OpenSSL calls it: "RSA", "EC", "ED25519". errors: invalid: no key
Result<std::string> key_algorithm(const Secret& key);

// The public half as a line for authorized_keys: "ecdsa-sha2-nistp256 AAAA... comment", "ssh-rsa AAAA... comment".
// errors: invalid: neither P-256 nor RSA
Result<std::string> authorized_key(const Secret& key, std::string_view comment);

// What a certificate says.
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

// All certificates of a PEM text, in its order; other blocks and text between them are passed over.
// errors: invalid: none at all, or one that cannot be read
Result<std::vector<CertificateInfo>> parse_certificates(std::string_view pem);
Result<CertificateInfo> parse_certificate(std::string_view pem);  // the first one

// The PEM blocks of certificates in a text, each for itself, re-encoded.
Result<std::vector<std::string>> split_certificates(std::string_view pem);

// Whether `certificate` was signed by the first certificate of `issuer` (signature only, not time). errors: invalid
Result<bool> is_signed_by(std::string_view certificate, std::string_view issuer);

// Whether the private key belongs to the first certificate. errors: invalid
Result<bool> key_fits(std::string_view certificate, const Secret& key);

// A certificate request (PKCS#10, PEM) for a key. errors: as make_certificate
Result<std::string> make_request(const Secret& key, const SubjectName& subject, const std::vector<std::string>& dns_names,
                                 const std::vector<std::string>& ip_addresses);

struct RequestInfo {
  SubjectName subject;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  bool has_other_names = false;  // e-mail addresses or URIs among the alternative names
  std::string public_key{};      // PEM; whoever made the request has its private half

  bool operator==(const RequestInfo&) const = default;
};

// Reads a request and checks its own signature. errors: invalid
Result<RequestInfo> parse_request(std::string_view pem);

// bcrypt of a password ("$2a$10$..."), as Kubernetes' kubeadmin secret has it. cost: 4 to 31; 10 takes 50 ms
// errors: invalid: a password of more than 72 bytes or with a zero byte, another cost, a salt that has not 16 bytes
Result<std::string> bcrypt(const Secret& password, int cost, std::string_view salt16);

}  // namespace slipway::net
