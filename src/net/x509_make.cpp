#include "base/check.h"
#include "net/openssl.h"
#include "net/x509.h"

#include <optional>

namespace slipway::net {

namespace {

Result<Time> make_time(WallTime time) {
  Time made(ASN1_TIME_set(nullptr, std::chrono::floor<Seconds>(time).time_since_epoch().count()));
  if (!made) return problem(Code::invalid, "the time of a certificate");
  return made;
}

Result<> set_times(X509* certificate, const CertificateSpec& spec) {
  const Time from = TRY(make_time(spec.valid_from));
  const Time to = TRY(make_time(spec.valid_from + spec.valid_for));
  CHECK(X509_set1_notBefore(certificate, from.get()) == 1 && X509_set1_notAfter(certificate, to.get()) == 1);
  return Ok{};
}

Result<> set_serial(X509* certificate, sys::Random* random) {
  sys::RealRandom system;
  std::uint64_t serial = 0;
  while (serial == 0) {
    const std::string drawn = TRY((random == nullptr ? system : *random).bytes(sizeof serial));
    for (const char byte : drawn) serial = serial << 8 | static_cast<unsigned char>(byte);
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
  if (spec.has_key_usage) {
    TRY(add(NID_key_usage,
            spec.is_ca ? "critical,digitalSignature,keyEncipherment,keyCertSign" : "critical,digitalSignature,keyEncipherment"));
  }
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

// The signing certificate and its key.
struct Issuer {
  Cert certificate;
  Key key;
};

Result<Issuer> read_issuer(const Certificate& pair) {
  Issuer issuer;
  issuer.certificate = TRY(read_certificate(pair.pem).context("the issuer"));
  issuer.key = TRY(read_key(pair.key).context("the issuer"));
  if (X509_check_ca(issuer.certificate.get()) != 1) return error(Code::invalid, "the issuer is not a certificate authority");
  if (X509_check_private_key(issuer.certificate.get(), issuer.key.get()) != 1) {
    ERR_clear_error();
    return error(Code::invalid, "the issuer's key belongs to another certificate");
  }
  return issuer;
}

// Like X509_set_pubkey, but without its decoding of the encoded key.
Result<> set_p256(X509* certificate, const EVP_PKEY* key) {
  const std::string point = TRY(point_of(key));
  auto* bytes = static_cast<unsigned char*>(OPENSSL_memdup(point.data(), point.size()));
  CHECK(X509_PUBKEY_set0_param(X509_get_X509_PUBKEY(certificate), OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
                               OBJ_nid2obj(NID_X9_62_prime256v1), bytes, static_cast<int>(point.size())) == 1);
  return Ok{};
}

// Replaces the signature by a deterministic one. Of slipway's key types, only ECDSA signatures are random.
Result<> replace_signature(X509* certificate, const EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_re_X509_tbs(certificate, &der);
  if (size <= 0) return problem(Code::internal, "signing a certificate");
  const Bytes<unsigned char> owner(der);
  const std::string signature = TRY(sign_deterministically(key, {reinterpret_cast<char*>(der), static_cast<std::size_t>(size)}));
  const ASN1_BIT_STRING* place = nullptr;
  X509_get0_signature(&place, nullptr, certificate);
  // OpenSSL has no other access to a certificate's signature.
  CHECK(ASN1_STRING_set(const_cast<ASN1_BIT_STRING*>(place), signature.data(), static_cast<int>(signature.size())) == 1);
  return Ok{};
}

// Completes a certificate that has its public key. Signs it with the issuer, or with `own_key` if there is no issuer.
Result<std::string> finish(X509* certificate, const X509_NAME* subject, const CertificateSpec& spec, const Issuer* issuer,
                           EVP_PKEY* own_key) {
  X509* const issuer_certificate = issuer == nullptr ? certificate : issuer->certificate.get();
  EVP_PKEY* const signing_key = issuer == nullptr ? own_key : issuer->key.get();
  if (X509_set_version(certificate, X509_VERSION_3) != 1 || X509_set_subject_name(certificate, subject) != 1 ||
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer_certificate)) != 1) {
    return problem(Code::internal, "creating a certificate");
  }
  TRY(set_serial(certificate, spec.random));
  TRY(set_times(certificate, spec));
  TRY(add_extensions(certificate, spec, issuer_certificate));
  if (X509_sign(certificate, signing_key, digest_for(signing_key)) == 0) return problem(Code::internal, "signing a certificate");
  if (spec.random != nullptr && EVP_PKEY_get_base_id(signing_key) == EVP_PKEY_EC)
    TRY(replace_signature(certificate, signing_key));
  return certificate_pem(certificate);
}

}  // namespace

Result<Certificate> make_certificate(const CertificateSpec& spec, const Certificate* issuer) {
  std::optional<Issuer> signer;
  if (issuer != nullptr) signer = TRY(read_issuer(*issuer));
  const Key key = spec.key ? TRY(read_key(*spec.key)) : TRY(generate_key(KeyType::p256, spec.random));
  const Name subject = TRY(make_name(spec.subject));
  Certificate made;
  const Cert certificate(X509_new());
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC) {
    TRY(set_p256(certificate.get(), key.get()));
  } else if (X509_set_pubkey(certificate.get(), key.get()) != 1) {
    return problem(Code::internal, "copying a key");
  }
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

}  // namespace slipway::net
