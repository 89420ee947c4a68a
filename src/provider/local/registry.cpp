#include "provider/local/registry.h"

#include "assets/manifests/image_mode.h"
#include "base/json.h"
#include "provider/local/owner_descriptors.h"
#include "provider/local/registry_access.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace slipway::provider::local {

namespace {

// The number of the registry's socket for machines. The next ones are for people and for machines that push.
constexpr int first_socket = 20;

JsonObject push_settings(int socket, const std::string& name, const RegistryFiles& access, const std::string& logins) {
  return {{"socket", socket}, {"name", name}, {"certificate", access.certificate()}, {"key", access.key()}, {"logins", logins}};
}

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
                     storage, address, registry_port);
}

std::vector<std::string> registry_command(std::string_view program, std::string_view config) {
  return {std::string(program), "serve", std::string(config)};
}

std::string registry_settings(const ClusterConfig& config, const ClusterPaths& paths, bool takes_pushes) {
  const RegistryFiles access(paths);
  JsonObject settings = {{"releaseHost", release_host},
                         {"releaseStorage", paths.registry()},
                         {"store", paths.own_images()},
                         {"machinesSocket", first_socket},
                         {"upstreamLogins", takes_pushes ? access.upstream_logins() : ""},
                         {"authorities", takes_pushes ? access.upstream_authorities() : ""},
                         {"offline", config.is_offline}};
  if (takes_pushes) {
    const std::string people = fmt::format("{}:{}", config.host_address, config.push_port);
    settings["people"] = push_settings(first_socket + 1, people, access, access.logins());
    if (!config.os_registry.empty())
      settings["builders"] = push_settings(first_socket + 2, config.os_registry, access, access.os_logins());
  }
  return emit_json(settings, JsonStyle::pretty);
}

std::vector<std::string> own_registry_command(const ClusterConfig& config, const ClusterPaths& paths, bool takes_pushes) {
  // Its connections to other registries are those of the host: names, authorities, routes.
  std::vector<std::string> command = {paths.registry_program(), "outside", fmt::format("--first-socket={}", first_socket),
                                      fmt::format("--listen={}:{}", config.network.gateway(), registry_port)};
  if (takes_pushes) {
    command.push_back(fmt::format("--listen={}:{}", push_address, push_port));
    if (!config.os_registry.empty()) command.push_back(fmt::format("--listen={}:{}", config.network.gateway(), assets::local_os_registry_port));
  }
  command.emplace_back("--");
  std::ranges::move(options_for_host(), std::back_inserter(command));
  // It is root, which owns its files, and needs no capability.
  command.insert(command.end(), {"--", "setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all",
                                 paths.registry_program(), "cluster", paths.registry_settings()});
  return command;
}

std::string hosts_toml(std::string_view address) {
  return fmt::format(R"(server = "http://{0}:{1}"

[host."http://{0}:{1}"]
  capabilities = ["pull", "resolve"]
)",
                     address, registry_port);
}

std::string os_hosts_toml(std::string_view address, std::string_view os_registry) {
  return hosts_toml(address) + fmt::format(R"(
[host."https://{}"]
  capabilities = ["push"]
  ca = "ca.crt"
)",
                                           os_registry);
}

}  // namespace slipway::provider::local
