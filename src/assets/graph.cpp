#include "assets/graph.h"

#include "assets/assets.h"
#include "assets/identity/identity.h"
#include "assets/identity/metadata.h"
#include "assets/identity/password.h"
#include "assets/ignition/bootstrap_ignition.h"
#include "assets/ignition/bootstrap_variants.h"
#include "assets/ignition/pointer.h"
#include "assets/ignition/single_node.h"
#include "assets/manifests/cluster_api.h"
#include "assets/manifests/image_mode.h"
#include "assets/manifests/manifest_set.h"
#include "assets/manifests/manifests.h"
#include "assets/manifests/openshift_manifests.h"
#include "assets/outputs.h"
#include "assets/tls/kubeconfigs.h"
#include "assets/tls/tls.h"

namespace slipway::assets {

namespace {

// Collects the generated assets.
Assets collect(const config::InstallConfig& config, const Environment& environment, const ClusterId& id, const Tls& tls,
               const KubeadminPassword& password, const ServerToken& token, const ManifestSet& manifests,
               const Kubeconfigs& kubeconfigs, const BootstrapConfig& bootstrap, const PointerConfigs& pointers,
               const Metadata& metadata) {
  Assets all{.config = config,
             .id = id,
             .tls = tls,
             .kubeadmin_password = password.plain,
             .kubeadmin_hash = password.hash,
             .machine_config_server_token = token.text,
             .manifests = {},
             .openshift = {},
             .auth = {{"auth/kubeconfig", kubeconfigs.user.reveal()}},
             .bootstrap = bootstrap.config,
             .master = pointers.master,
             .worker = pointers.worker,
             .metadata = metadata.document};
  if (environment.has_kubeadmin()) all.auth.insert(all.auth.begin(), {"auth/kubeadmin-password", password.plain.reveal()});
  if (const Secret login = os_registry_login(config, token); !login.empty())
    all.auth.push_back({std::string(os_registry_file), login.reveal()});
  for (const AssetFile& file : manifests.files) {
    (file.path.starts_with("manifests/") ? all.manifests : all.openshift).push_back(file);
  }
  return all;
}

}  // namespace

Graph asset_graph() {
  Graph graph;
  graph.subject("inputs");
  graph.input<config::InstallConfig>("install config");
  graph.input<Environment>("environment");
  graph.input<Randomness>("random numbers");
  graph.input<PreviousTls>("existing certificates");
  graph.input<UserTls>("user keys");
  graph.input<UserFiles>("user files");
  graph.input<PointerEdits>("user pointer configs");

  // The state file keeps these; later runs put the kept values.
  graph.subject("generated once per cluster");
  graph.add("cluster id", make_cluster_id);
  graph.add("kubeadmin password", make_kubeadmin_password);
  graph.add("machine-config-server token", make_server_token);
  graph.add("ironic credentials", make_ironic_credentials);
  graph.add("root certificates", make_root_tls);
  graph.add("certificates", make_tls);

  graph.subject("access");
  graph.add("kubeconfigs", make_kubeconfigs);
  graph.add("pointer configs", make_pointer_configs);

  graph.subject("manifests");
  graph.add("common manifests", make_common_manifests);
  graph.add("openshift manifests", make_openshift_manifests);
  graph.add("cluster-api manifests", make_cluster_api_manifests);
  graph.add("manifests", make_manifest_set);

  graph.subject("Ignition configs");
  graph.add("cvo overrides", make_cvo_overrides);
  graph.add("bootstrap config", make_bootstrap_config);
  graph.add("single node config", make_single_node_config);
  graph.add("metadata", make_metadata);
  graph.add("assets", collect);

  graph.target<config::InstallConfig>("create install-config");
  graph.target<CommonManifests, OpenshiftManifests, ClusterApiManifests>("create manifests");
  graph.target<Kubeconfigs, KubeadminPassword, BootstrapConfig, PointerConfigs, Metadata>("create ignition-configs");
  graph.target<Kubeconfigs, KubeadminPassword, SingleNodeConfig, PointerConfigs, Metadata>("create single-node-ignition-config");
  graph.target<Assets>("create cluster");
  return graph;
}

}  // namespace slipway::assets
