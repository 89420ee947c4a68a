#include "assets/manifests/cluster_api.h"

#include "assets/manifest_file.h"

namespace slipway::assets {

namespace {

constexpr std::string_view guests = "openshift-cluster-api-guests";
constexpr std::string_view infrastructure_api = "infrastructure.cluster.x-k8s.io/v1beta1";

Json guests_namespace() {
  JsonObject object = object_of("v1", "Namespace", "", guests);
  object["spec"] = JsonObject();
  return object;
}

Json cluster(const std::string& name) {
  JsonObject object = object_of("cluster.x-k8s.io/v1beta1", "Cluster", guests, name);
  object["spec"] = {{"clusterNetwork", {{"apiServerPort", 6443}}},
                    {"controlPlaneEndpoint", {{"host", ""}, {"port", 0}}},
                    {"infrastructureRef",
                     {{"apiVersion", infrastructure_api}, {"kind", "VSphereCluster"}, {"name", name}, {"namespace", guests}}}};
  object["status"] = {{"controlPlaneReady", false}, {"infrastructureReady", false}};
  return object;
}

Json vsphere_cluster(const config::InstallConfig& config, const std::string& name, const std::string& credentials,
                     const std::string& server) {
  JsonObject object = object_of(infrastructure_api, "VSphereCluster", guests, name);
  object["spec"] = {{"controlPlaneEndpoint", {{"host", "api." + config.cluster_domain()}, {"port", 6443}}},
                    {"identityRef", {{"kind", "Secret"}, {"name", credentials}}},
                    {"server", "https://" + server}};
  return object;
}

}  // namespace

ClusterApiManifests make_cluster_api_manifests(const config::InstallConfig& config, const ClusterId& id) {
  ClusterApiManifests made;
  if (config.platform.type != "vsphere") return made;
  auto add = [&](std::string_view name, const Json& object) {
    made.files.push_back(manifest_file(fmt::format("cluster-api/{}.yaml", name), object));
  };
  add("000_capi-namespace", guests_namespace());
  const JsonArray& vcenters = find_array(config.platform.section, {"vcenters"});
  for (std::size_t i = 0; i < vcenters.size(); ++i) {
    const std::string name = fmt::format("{}-{}", id.infra_id, i);
    const std::string credentials = fmt::format("vsphere-creds-{}", i);
    add(fmt::format("01_capi-cluster-{}", i), cluster(name));
    add(fmt::format("01_vsphere-cluster-{}", i), vsphere_cluster(config, name, credentials, text_of(vcenters[i], {"server"})));
    add(fmt::format("01_{}", credentials),
        secret_object(guests, credentials, "",
                      {{"password", text_of(vcenters[i], {"password"})}, {"username", text_of(vcenters[i], {"user"})}}));
  }
  return made;
}

}  // namespace slipway::assets
