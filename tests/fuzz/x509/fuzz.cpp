// Any bytes, as PEM text and inside PEM blocks: certificates, requests and keys are parsed or rejected, and parsed values can be
// written and parsed again. A parsed key can sign valid certificates.
#include "base/check.h"
#include "base/digest.h"
#include "net/seeded_stream.h"
#include "net/x509.h"

#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::net;

// With random numbers of the system and with given ones.
void sign_with(const Secret& key) {
  SeededStream stream(Secret("fuzz"), "x509");
  for (sys::Random* random : {static_cast<sys::Random*>(nullptr), static_cast<sys::Random*>(&stream)}) {
    const auto made = make_certificate(
        {.subject = {.common_name = "x"}, .is_ca = true, .valid_for = std::chrono::hours(1), .key = key, .random = random},
        nullptr);
    if (made.ok()) CHECK(parse_certificate(made->pem).ok());
  }
}

void read_as_everything(const std::string& text) {
  const auto infos = parse_certificates(text);
  const auto parts = split_certificates(text);
  CHECK(parts.ok() || !infos.ok());
  if (parts.ok()) {
    for (const std::string& part : parts.value()) CHECK(split_certificates(part).value() == std::vector{part});
    (void)is_signed_by(text, text).ok();
  }
  (void)parse_request(text).ok();
  const Secret key{text};
  if (const auto half = public_key(key); half.ok()) {
    CHECK(key_algorithm(key).ok());
    const auto alone = private_key(key);
    CHECK(!alone.ok() || public_key(alone.value()).value() == half.value());
    (void)authorized_key(key, "").ok();
    (void)make_request(key, {.common_name = "x"}, {}, {}).ok();
    sign_with(key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_as_everything(bytes);
  for (const char* name : {"CERTIFICATE", "CERTIFICATE REQUEST", "EC PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY"}) {
    read_as_everything(fmt::format("-----BEGIN {0}-----\n{1}\n-----END {0}-----\n", name, base64_encode(bytes)));
  }
  return 0;
}
