// Installation: what makes the Ignition configs of a cluster. The service prepares an installation with it.
#pragma once

#include "net/environment.h"
#include "service/records.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace slipway::service {

struct InstallationRequest {
  std::shared_ptr<const ClusterRecord> cluster;
  std::vector<std::shared_ptr<const HostRecord>> hosts;
  std::map<std::string, std::string> manifests{};  // of users, by path: "openshift/99-worker.yaml"
};

// The owner of the files with the manifests of users.
std::string manifests_of(std::string_view cluster);

// By the names of the API: "bootstrap.ign", "master.ign", "worker.ign", "kubeconfig", "kubeadmin-password", "metadata.json",
// "install-config.yaml". Secrets are among them.
using InstallationFiles = std::map<std::string, std::string>;

inline constexpr const char* install_config_file = "install-config.yaml";

// As the kubeconfig, until the certificates of the routers are known.
inline constexpr const char* kubeconfig_without_routers = "kubeconfig-noingress";

// Threads: one call at a time for each cluster.
class Installation {
 public:
  virtual ~Installation() = default;

  // Takes seconds. Called again after the service was killed meanwhile.
  // errors: invalid: the settings of the cluster, with all problems; unavailable; cancelled
  virtual Result<InstallationFiles> make(const InstallationRequest& request, std::stop_token stop) = 0;
};

// Runs `slipway create ignition-configs`, which generates the files from an install-config and a release. If users have added
// manifests, it first runs `slipway create manifests`, and adds or replaces files.
class SlipwayInstallation final : public Installation {
 public:
  // program  path of slipway
  // release  image reference or folder; empty: the default of slipway
  SlipwayInstallation(net::Environment environment, std::string program, std::string release)
      : environment_(std::move(environment)), program_(std::move(program)), release_(std::move(release)) {}
  Result<InstallationFiles> make(const InstallationRequest& request, std::stop_token stop) override;

 private:
  net::Environment environment_;
  std::string program_, release_;
};

// The files that were made before, in a folder (rendezvous_config.h).
class PreparedInstallation final : public Installation {
 public:
  PreparedInstallation(net::Environment environment, std::string folder)
      : environment_(std::move(environment)), folder_(std::move(folder)) {}
  Result<InstallationFiles> make(const InstallationRequest& request, std::stop_token stop) override;

 private:
  net::Environment environment_;
  std::string folder_;
};

// The files of an asset directory of slipway. errors: internal: one is missing; those of Files
Result<InstallationFiles> read_asset_directory(sys::Files& files, const std::string& folder);

// The install-config of a cluster, as JSON, which is YAML. Pure.
// errors: invalid: overrides that are no object
Json install_config(const ClusterRecord& cluster, const std::vector<std::shared_ptr<const HostRecord>>& hosts);

// The same, or overrides of one, as users see it: without the pull secret and the logins of proxies.
Json shown_install_config(Json config);

}  // namespace slipway::service
