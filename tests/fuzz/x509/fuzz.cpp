// Any bytes, as PEM text and inside PEM blocks: certificates, requests and keys are read or refused, and what was read can be
// written and read again.
#include "base/check.h"
#include "base/digest.h"
#include "net/x509.h"

#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::net;

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
    (void)authorized_key(key, "").ok();
    (void)make_request(key, {.common_name = "x"}, {}, {}).ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_as_everything(bytes);
  for (const char* name : {"CERTIFICATE", "CERTIFICATE REQUEST", "EC PRIVATE KEY", "PRIVATE KEY"}) {
    read_as_everything(fmt::format("-----BEGIN {0}-----\n{1}\n-----END {0}-----\n", name, base64_encode(bytes)));
  }
  return 0;
}
