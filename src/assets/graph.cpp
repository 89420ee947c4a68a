#include "assets/graph.h"

#include "assets/assets.h"
#include "assets/bootstrap_ignition.h"
#include "assets/identity.h"
#include "assets/kubeconfigs.h"
#include "assets/manifest_set.h"
#include "assets/manifests.h"
#include "assets/metadata.h"
#include "assets/openshift_manifests.h"
#include "assets/password.h"
#include "assets/pointer.h"
#include "assets/tls.h"

namespace slipway::assets {

namespace {

// The common part of all: what has been made, under one roof.
Assets collect(const config::InstallConfig& config, const ClusterId& id, const Tls& tls, const KubeadminPassword& password,
               const ServerToken& token, const ManifestSet& manifests, const Kubeconfigs& kubeconfigs,
               const BootstrapConfig& bootstrap, const PointerConfigs& pointers, const Metadata& metadata) {
  Assets all{.config = config,
             .id = id,
             .tls = tls,
             .kubeadmin_password = password.plain,
             .kubeadmin_hash = password.hash,
             .machine_config_server_token = token.text,
             .manifests = {},
             .openshift = {},
             .auth = {{"auth/kubeadmin-password", password.plain.reveal()}, {"auth/kubeconfig", kubeconfigs.user.reveal()}},
             .bootstrap = bootstrap.config,
             .master = pointers.master,
             .worker = pointers.worker,
             .metadata = metadata.document};
  for (const AssetFile& file : manifests.files) {
    (file.path.starts_with("manifests/") ? all.manifests : all.openshift).push_back(file);
  }
  return all;
}

}  // namespace

Graph asset_graph() {
  Graph graph;
  // From outside: what the user wants, where it is made, what was made before, what the user changed by hand.
  graph.input<config::InstallConfig>("install config");
  graph.input<Environment>("environment");
  graph.input<Randomness>("random numbers");
  graph.input<KeptTls>("certificates of before");
  graph.input<UserSigningKey>("signing key of the user");
  graph.input<UserFiles>("files of the user");

  // Drawn once for a cluster; the store gives them back in later runs.
  graph.add("cluster id", make_cluster_id);
  graph.add("kubeadmin password", make_kubeadmin_password);
  graph.add("machine-config-server token", make_server_token);
  graph.add("certificates", make_tls);

  // What people and machines hold to get in.
  graph.add("kubeconfigs", make_kubeconfigs);
  graph.add("pointer configs", make_pointer_configs);

  // Target `manifests`.
  graph.add("common manifests", make_common_manifests);
  graph.add("openshift manifests", make_openshift_manifests);
  graph.add("manifests", make_manifest_set);

  // Target `ignition-configs`.
  graph.add("cvo overrides", make_cvo_overrides);
  graph.add("bootstrap config", make_bootstrap_config);
  graph.add("metadata", make_metadata);
  graph.add("assets", collect);
  return graph;
}

}  // namespace slipway::assets
