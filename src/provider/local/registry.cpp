#include "provider/local/registry.h"

#include <fmt/core.h>

namespace slipway::provider::local {

namespace {

constexpr int port = 5000;

}  // namespace

Result<> copy_registry_storage(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& storage,
                               const std::string& target) {
  if (TRY(files.info(target))) return Ok{};
  const std::string beside = target + ".new";
  TRY(files.remove(beside));
  TRY(sys::run_checked(runner, context, {.argv = {"cp", "--archive", "--link", storage + "/.", beside}})
          .context("copying the registry's images"));
  return files.rename(beside, target);
}

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
