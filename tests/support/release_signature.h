// ReleaseKey: a key that signs releases as `slipway-images build` does.
#pragma once

#include "base/digest.h"
#include "base/json.h"
#include "release/signature.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <string>
#include <string_view>

namespace slipway::testing_support {

class ReleaseKey {
 public:
  ReleaseKey() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free) {}

  release::TrustedKey trusted(std::string name = "test") const { return {.name = std::move(name), .pem = public_pem()}; }

  std::string public_pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PUBKEY(out.get(), key_.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
  }

  // The envelope with any text.
  std::string envelope(std::string_view type, std::string_view text) const {
    const std::string encoded = fmt::format("DSSEv1 {} {} {} {}", type.size(), type, text.size(), text);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::string signature(64, '\0');
    std::size_t size = signature.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                   reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
    const Json signatures = JsonArray{{{"sig", base64_encode(signature)}}};
    return emit_json({{"payloadType", type}, {"payload", base64_encode(text)}, {"signatures", signatures}}, JsonStyle::compact);
  }

  std::string sign(const release::Digest& digest, std::string_view version) const {
    const Json text = {{"digest", digest.text()}, {"identity", release::signed_identity}, {"version", version}};
    return envelope(release::signed_text_type, emit_json(text, JsonStyle::compact));
  }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

}  // namespace slipway::testing_support
