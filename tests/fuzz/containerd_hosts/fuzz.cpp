// A hosts.toml of any bytes: what is read from it can be requested.
#include "base/check.h"
#include "net/url.h"
#include "node/containerd_hosts.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto hosts = node::parse_containerd_hosts({reinterpret_cast<const char*>(data), size}, "/certs/hosts.toml");
  if (!hosts.ok()) return 0;
  CHECK(!hosts->empty());
  for (const node::ContainerdHost& host : hosts.value()) {
    CHECK(host.server.empty() || net::parse_url("https://" + host.server + host.path + "/a/manifests/b?ns=c").ok());
    for (const std::string& file : host.ca_files) CHECK(file.starts_with('/'));
  }
  return 0;
}
