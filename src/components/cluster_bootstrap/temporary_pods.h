// The static pods of the temporary control plane and their secrets: written to the kubelet's folder and removed again.
#pragma once

#include "base/log.h"
#include "components/cluster_bootstrap/options.h"
#include "sys/files.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::components::cluster_bootstrap {

// Owns (owned_files.h) the files of ASSETS/bootstrap-manifests in the pods' folder, and the whole folder of secrets. Records what
// it wrote in ASSETS/cluster-bootstrap-owned.json until it is removed, so that another process can continue.
class TemporaryPods {
 public:
  TemporaryPods(sys::Files& files, Log& log, const BootstrapOptions& options) : files_(files), log_(log), options_(options) {}

  // Writes the secrets first: ASSETS/tls and the kubeconfig, 0600 in folders of 0700. Then the pods. Files that are already right
  // are not touched, so a kubelet that runs the pods does not restart them.
  //
  //   errors  conflict: the file of a pod exists and is not owned, and nothing was written; as sys::Files
  Result<> place();

  // Removes the pods that need an API server. The API server's pod and the secrets stay.
  Result<> remove_controllers();

  // Removes pods and secrets. A file that was changed since stays, with a warning. Files that do not exist are not an error.
  Result<> remove_all();

 private:
  std::string record_path() const { return options_.asset_dir + "/cluster-bootstrap-owned.json"; }
  Result<> place_secrets();
  Result<> remove_pods(const std::function<bool(std::string_view name)>& is_meant);

  sys::Files& files_;
  Log& log_;
  const BootstrapOptions& options_;
};

}  // namespace slipway::components::cluster_bootstrap
