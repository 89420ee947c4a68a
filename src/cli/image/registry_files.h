// The files of an asset directory with which people reach the registry of their cluster.
#pragma once

#include "base/result.h"
#include "provider/provider.h"
#include "sys/files.h"

#include <string>

namespace slipway::cli {

//   DIR/auth/registry.json     the login, as a docker config (--authfile of podman and skopeo), 0600
//   DIR/auth/os-registry.json  the login of machines of the cluster, with the address that they push to, 0600. The registry gets
//                              this login if the file exists before the cluster
//   DIR/auth/registry/ca.crt   the authority of its certificate (--cert-dir)
inline std::string registry_login_file(const std::string& folder) { return folder + "/auth/registry.json"; }
inline std::string os_registry_login_file(const std::string& folder) { return folder + "/auth/os-registry.json"; }
inline std::string registry_certificates(const std::string& folder) { return folder + "/auth/registry"; }

// Writes no os-registry.json if machines have no login.
Result<> write_registry_files(sys::Files& files, const std::string& folder, const provider::ImageRegistry& registry);

// The address of the registry: "127.43.1.9:5000". errors: not_found: the cluster has none; invalid: the file is damaged
Result<std::string> registry_address(sys::Files& files, const std::string& folder);

// Succeeds if they do not exist.
Result<> remove_registry_files(sys::Files& files, const std::string& folder);

}  // namespace slipway::cli
