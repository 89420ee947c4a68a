// The static pods of the temporary control plane and their secrets: placed where the kubelet looks, and taken away again.
#pragma once

#include "base/log.h"
#include "components/cluster_bootstrap/options.h"
#include "sys/files.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::components::cluster_bootstrap {

// Owns, in the sense of owned_files.h, the files of ASSETS/bootstrap-manifests in the pods' folder, and the whole folder of
// secrets. What it wrote is remembered in ASSETS/cluster-bootstrap-owned.json until it is taken away, so that another process can
// go on.
class TemporaryPods {
 public:
  TemporaryPods(sys::Files& files, Log& log, const BootstrapOptions& options) : files_(files), log_(log), options_(options) {}

  // Secrets first: the folder holds ASSETS/tls and the kubeconfig, 0600 in folders of 0700. Then the pods. Files that are right
  // already are not touched, so a kubelet that runs the pods does not start them again.
  //
  //   errors  conflict: a pod's file exists and is not ours, nothing was written then; as sys::Files
  Result<> place();

  // Removes the pods that need an API server, and leaves its own pod and the secrets.
  Result<> take_away_controllers();

  // Removes pods and secrets. A file that somebody changed since is left, with a warning. Fine when nothing was placed, or some
  // of it is gone.
  Result<> take_away();

 private:
  std::string record_path() const { return options_.asset_dir + "/cluster-bootstrap-owned.json"; }
  Result<> place_secrets();
  Result<> remove_pods(const std::function<bool(std::string_view name)>& is_meant);

  sys::Files& files_;
  Log& log_;
  const BootstrapOptions& options_;
};

}  // namespace slipway::components::cluster_bootstrap
