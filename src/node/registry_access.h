// How this machine's containerd reaches registries, for slipway's own client: mirrors, authorities, logins.
#pragma once

#include "base/result.h"
#include "release/registry_client.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string_view>

namespace slipway::node {

inline constexpr std::string_view containerd_hosts_folder = "/etc/containerd/certs.d";  // HOST/hosts.toml, _default/hosts.toml
inline constexpr std::string_view kubelet_logins = "/var/lib/kubelet/config.json";      // a docker config
inline constexpr std::string_view system_authorities = "/etc/ssl/certs/ca-certificates.crt";

// Options for a RegistryClient that reads images from the same servers as containerd, in the same order. Files that do not exist
// change nothing, so a machine without any reads from the registries themselves.
//
// - A registry with a folder of its own uses only this folder; all others use _default. "HOST_5000_" is another name of
//   "HOST:5000". A folder without hosts.toml adds its files *.crt to the authorities of the registry.
// - The authorities of a server are the system's (with those of /usr/local/share/ca-certificates) and its `ca`.
// - A server with skip_verify is left out, with a warning in the log: the client always verifies certificates. Client
//   certificates and additional headers are not supported.
// - The logins are the kubelet's. A mirror needs a login of its own name there, like in the pull secret of a cluster.
// - Until the machine-config-daemon runs for the first time, the server of os_update/image_source.h is asked first for the
//   operating system image of this machine.
// - The proxy is not part of the options: the client (net::CurlHttp) uses HTTPS_PROXY and NO_PROXY of this process. containerd
//   gets these variables from /etc/mco/proxy.env, so the unit that runs this process must read the same file.
//
//   errors  invalid: with file and line (hosts.toml), or with all wrong fields of the logins or of the image's source, without
//           their content; those of files other than not_found, with the path; not_found: a CA file
//   time    blocks on disk only
Result<release::RegistryOptions> registry_access(const sys::Context& context, sys::Files& files);

}  // namespace slipway::node
