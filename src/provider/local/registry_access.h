// Who may push to the registry of a cluster, and with which logins the registry fetches images of other registries.
#pragma once

#include "provider/local/cluster_config.h"
#include "provider/local/layout.h"
#include "provider/provider.h"

#include "base/result.h"
#include "base/time.h"
#include "net/x509.h"
#include "sys/files.h"
#include "sys/random.h"

#include <optional>
#include <string>
#include <utility>

namespace slipway::provider::local {

// Files of STATE/CLUSTER/registry-access, all 0600.
class RegistryFiles {
 public:
  explicit RegistryFiles(const ClusterPaths& paths) : folder_(paths.registry_access()) {}

  std::string certificate() const { return folder_ + "/server.pem"; }
  std::string key() const { return folder_ + "/server.key"; }
  std::string authority() const { return folder_ + "/authority.pem"; }  // signed the certificate
  std::string password() const { return folder_ + "/password"; }
  std::string logins() const { return folder_ + "/htpasswd"; }
  std::string os_password() const { return folder_ + "/os-password"; }  // of machines that push; only with an os_registry
  std::string os_logins() const { return folder_ + "/os-logins"; }      // payload/registry/builders_login.go
  std::string upstream_logins() const { return folder_ + "/upstream-logins.json"; }           // a docker config
  std::string upstream_authorities() const { return folder_ + "/upstream-authorities.pem"; }  // additional ones

 private:
  std::string folder_;
};

// Makes the certificate and the logins for people and machines once, and writes the logins for other registries at each call.
// Without an authority in the request, the certificate is its own.
//
//   errors  invalid: the authority cannot sign, the requested login of machines is none for the config's os_registry; those of
//   files
//           and of random numbers
Result<> keep_registry_access(sys::Files& files, sys::Random& random, WallTime now, const ClusterPaths& paths,
                              const ClusterConfig& config, const ClusterRequest& request);

// Whether keep_registry_access has made the files.
Result<bool> has_registry_access(sys::Files& files, const ClusterPaths& paths);

// The authority with which machines push to the config's os_registry. Empty if they cannot.
Result<std::string> push_authority(sys::Files& files, const ClusterPaths& paths, const ClusterConfig& config);

// Empty before the first call of keep_registry_access.
Result<std::optional<ImageRegistry>> registry_access(sys::Files& files, const ClusterPaths& paths, const ClusterConfig& config);

}  // namespace slipway::provider::local
