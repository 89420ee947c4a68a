#include "base/check.h"
#include "net/openssl.h"
#include "net/x509.h"

namespace slipway::net {

Result<CertRequest> read_request(std::string_view pem) {
  CertRequest request(PEM_read_bio_X509_REQ(reader(pem).get(), nullptr, no_passphrase, nullptr));
  if (!request) return problem(Code::invalid, "the certificate request cannot be read");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr) return problem(Code::invalid, "the key of the certificate request cannot be read");
  if (X509_REQ_verify(request.get(), key) != 1)
    return problem(Code::invalid, "the certificate request was not signed by its key");
  return request;
}

Result<std::string> make_request(const Secret& key, const SubjectName& subject, const std::vector<std::string>& dns_names,
                                 const std::vector<std::string>& ip_addresses) {
  const Key own = TRY(read_key(key));
  const Name name = TRY(make_name(subject));
  const CertRequest request(X509_REQ_new());
  if (X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 || X509_REQ_set_subject_name(request.get(), name.get()) != 1 ||
      X509_REQ_set_pubkey(request.get(), own.get()) != 1) {
    return problem(Code::internal, "creating a certificate request");
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
  info.public_key = TRY(public_key_pem(X509_REQ_get_X509_PUBKEY(request.get())));
  ERR_clear_error();
  return info;
}

}  // namespace slipway::net
