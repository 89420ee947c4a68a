#include "assets/manifests/cloud_credentials.h"

#include "assets/manifest_file.h"

namespace slipway::assets {

namespace {

constexpr std::string_view secret_name = "vsphere-creds";
constexpr std::string_view name_space = "kube-system";

Json vsphere_secret(const config::InstallConfig& config) {
  std::map<std::string, std::string> data;
  for (const Json& vcenter : find_array(config.platform.section, {"vcenters"})) {
    const std::string server = text_of(vcenter, {"server"});
    data[server + ".username"] = text_of(vcenter, {"user"});
    data[server + ".password"] = text_of(vcenter, {"password"});
  }
  return secret_object(name_space, secret_name, "", data);
}

Json reader_role() {
  JsonObject object = object_of("rbac.authorization.k8s.io/v1", "Role", name_space, fmt::format("{}-secret-reader", secret_name));
  object["rules"] = JsonArray{{{"apiGroups", JsonArray{""}},
                               {"resourceNames", JsonArray{secret_name}},
                               {"resources", JsonArray{"secrets"}},
                               {"verbs", JsonArray{"get"}}}};
  return object;
}

}  // namespace

AssetFiles cloud_credentials(const config::InstallConfig& config) {
  AssetFiles files;
  if (config.platform.type != "vsphere") return files;
  if (config.credentials_mode != "Manual") {
    files.push_back(manifest_file("openshift/99_cloud-creds-secret.yaml", vsphere_secret(config)));
  }
  files.push_back(manifest_file("openshift/99_role-cloud-creds-secret-reader.yaml", reader_role()));
  return files;
}

}  // namespace slipway::assets
