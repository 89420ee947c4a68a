#include "provider/local/registry.h"

#include <fmt/core.h>

namespace slipway::provider::local {

namespace {

constexpr int port = 5000;

}  // namespace

std::string registry_config(std::string_view storage, std::string_view address) {
  return fmt::format(R"(version: 0.1
log:
  level: info
  accesslog:
    disabled: true
storage:
  filesystem:
    rootdirectory: '{}'
  cache:
    blobdescriptor: inmemory
  maintenance:
    readonly:
      enabled: true
    uploadpurging:
      enabled: false
http:
  addr: {}:{}
)",
                     storage, address, port);
}

std::vector<std::string> registry_command(std::string_view program, std::string_view config) {
  return {std::string(program), "serve", std::string(config)};
}

std::string hosts_toml(std::string_view address) {
  return fmt::format(R"(server = "http://{0}:{1}"

[host."http://{0}:{1}"]
  capabilities = ["pull", "resolve"]
)",
                     address, port);
}

}  // namespace slipway::provider::local
