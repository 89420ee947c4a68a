// Any bytes as a kubeconfig: parsed or rejected, and all errors are valid text. A parsed kubeconfig is written and parsed to the
// same value, and no error contains a key or token.
#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"

#include <cstdint>

namespace {

using namespace slipway;

// Some files cannot be read; the others contain their name.
Result<std::string> read_file(const std::string& path) {
  if (path.size() % 2 == 1) return error(Code::not_found, "there is no file {}", to_utf8(path));
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto access = kube::parse_kubeconfig(text, "fuzz", read_file);
  if (!access.ok()) {
    CHECK(is_utf8(access.error().message()));
    return 0;
  }
  CHECK(!access->server.empty());
  CHECK(access->client_certificate.empty() == access->client_key.empty());
  const auto again = kube::parse_kubeconfig(emit_yaml(kube::make_kubeconfig(access.value(), "c", "u")), "again", read_file);
  CHECK(again.ok());
  CHECK(again.value() == access.value());
  return 0;
}
