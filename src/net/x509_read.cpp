#include "base/check.h"
#include "net/openssl.h"
#include "net/x509.h"

#include <array>
#include <limits>
#include <optional>

namespace slipway::net {

namespace {

Result<WallTime> read_time(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return problem(Code::invalid, "the time of a certificate cannot be read");
  return WallTime(Seconds(timegm(&parts)));
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

}  // namespace

Result<std::string> public_key_pem(const X509_PUBKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(key, &der);
  if (size <= 0) return problem(Code::invalid, "the public key cannot be read");
  const Bytes<unsigned char> owner(der);
  const Bio out = writer();
  CHECK(PEM_write_bio(out.get(), PEM_STRING_PUBLIC, "", der, size) > 0);
  return written(out);
}

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
  if (certificates.empty()) return error(Code::invalid, "the text contains no certificate");
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

}  // namespace slipway::net
