#include "node/registry_access.h"

#include "base/secret.h"
#include "node/containerd_hosts.h"
#include "node/os_update/image_source.h"

#include <optional>
#include <utility>

namespace slipway::node {

namespace {

constexpr std::string_view default_folder = "_default";
constexpr std::string_view port_separator = "_";

// The registry of a folder; empty for all registries without a folder.
std::string registry_of(const std::string& folder) {
  if (folder == default_folder) return "";
  // "HOST_5000_": colons are not allowed in names on some file systems.
  if (!folder.ends_with(port_separator)) return folder;
  const std::size_t port = folder.rfind(port_separator, folder.size() - 2);
  if (port == std::string::npos) return folder;
  return folder.substr(0, port) + ":" + folder.substr(port + 1, folder.size() - port - 2);
}

// A folder in the form that docker reads.
Result<std::vector<ContainerdHost>> hosts_with_certificates(sys::Files& files, const std::string& folder) {
  ContainerdHost registry;
  const std::vector<std::string> names = TRY(files.list(folder));
  for (const std::string& name : names) {
    if (name.ends_with(".crt")) registry.ca_files.push_back(folder + "/" + name);
  }
  return std::vector<ContainerdHost>{std::move(registry)};
}

Result<std::vector<ContainerdHost>> read_hosts(sys::Files& files, const std::string& folder) {
  const std::string path = folder + "/hosts.toml";
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return hosts_with_certificates(files, folder);
  return parse_containerd_hosts(*text, path);
}

// PEM of the authorities of a server; empty if there are none besides the system's.
Result<std::string> read_authorities(sys::Files& files, const std::vector<std::string>& ca_files) {
  if (ca_files.empty()) return std::string();
  std::string pem = TRY(files.read_if_exists(std::string(system_authorities))).value_or("");
  for (const std::string& file : ca_files) {
    if (!pem.empty() && !pem.ends_with('\n')) pem += '\n';
    pem += TRY(files.read(file));
  }
  return pem;
}

Result<std::vector<release::RegistryEndpoint>> read_endpoints(const sys::Context& context, sys::Files& files,
                                                              const std::string& folder) {
  std::vector<release::RegistryEndpoint> endpoints;
  const std::vector<ContainerdHost> hosts = TRY(read_hosts(files, folder));
  for (const ContainerdHost& host : hosts) {
    if (host.skips_verification && !host.is_plain) {
      context.log.warn("{}: {} has skip_verify, which is not supported; not using it to read images", folder,
                       host.server.empty() ? "the registry itself" : host.server);
      continue;
    }
    std::string ca_pem = TRY(read_authorities(files, host.ca_files));
    endpoints.push_back({.server = host.server,
                         .plain_http = host.is_plain,
                         .path = host.path,
                         .ca_pem = std::move(ca_pem),
                         .serves_digests = host.can_pull,
                         .serves_tags = host.can_resolve});
  }
  return endpoints;
}

}  // namespace

Result<release::RegistryOptions> registry_access(const sys::Context& context, sys::Files& files) {
  release::RegistryOptions options;
  const std::string root(containerd_hosts_folder);
  std::vector<std::string> folders;
  if (TRY(files.info(root))) folders = TRY(files.list(root));
  for (const std::string& name : folders) {
    const std::string folder = root + "/" + name;
    const std::optional<sys::FileInfo> info = TRY(files.info(folder));
    if (!info || info->kind == sys::FileKind::file) continue;
    // "HOST_5000_" is sorted after "HOST:5000" and overrides it, as with containerd.
    std::vector<release::RegistryEndpoint> endpoints = TRY(read_endpoints(context, files, folder));
    options.endpoints.insert_or_assign(registry_of(name), std::move(endpoints));
  }
  const std::string logins_path(kubelet_logins);
  std::optional<std::string> logins = TRY(files.read_if_exists(logins_path));
  if (logins) {
    const Secret text(*std::move(logins));
    options.credentials = TRY(release::Credentials::parse(text.reveal(), logins_path));
  }
  TRY(add_os_image_source(files, options));
  return options;
}

}  // namespace slipway::node
