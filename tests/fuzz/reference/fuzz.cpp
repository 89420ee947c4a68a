// Any bytes: a parsed reference is written and parsed to the same reference, and can be requested.
#include "base/check.h"
#include "net/url.h"
#include "release/reference.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway::release;
  const auto reference = parse_reference({reinterpret_cast<const char*>(data), size});
  if (!reference.ok()) return 0;
  const auto again = parse_reference(to_string(reference.value()));
  CHECK(again.ok());
  CHECK(again.value() == reference.value());
  CHECK(slipway::net::parse_url("https://" + reference->registry + "/v2/" + reference->repository).ok());
  return 0;
}
