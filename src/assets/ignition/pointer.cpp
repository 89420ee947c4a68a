#include "assets/ignition/pointer.h"

#include "assets/manifest_file.h"
#include "ignition/data_url.h"
#include "ignition/parse.h"
#include "net/ip.h"

#include <algorithm>

namespace slipway::assets {

namespace {

constexpr int machine_config_server_port = 22623;

ignition::Resource authority(const Tls& tls) {
  return {.source = ignition::encode_data_url(tls.find("root-ca")->second.pem, ignition::DataEncoding::base64)};
}

// The user's additions, without the URL, token and authority of the server.
AssetFile pointer_manifest(std::string_view role, ignition::Config config, const Tls& tls) {
  config.ignition.config.merge.clear();
  std::erase(config.ignition.security.tls.certificate_authorities, authority(tls));
  JsonObject object =
      object_of("machineconfiguration.openshift.io/v1", "MachineConfig", "", fmt::format("99-installer-ignition-{}", role));
  object["metadata"].get_object()["labels"] = {{"machineconfiguration.openshift.io/role", role}};
  object["spec"] = {{"baseOSExtensionsContainerImage", ""},
                    {"config", ignition::to_json(config)},
                    {"fips", false},
                    {"kernelType", ""},
                    {"osImageURL", ""}};
  return manifest_file(fmt::format("openshift/99_openshift-installer-ignition_{}.yaml", role), object);
}

}  // namespace

PointerConfigs make_pointer_configs(const config::InstallConfig& config, const RootTls& root, const ServerToken& token) {
  const std::vector<std::string> vips = config::api_vips(config);
  const std::string host = vips.empty() ? "api-int." + config.cluster_domain() : vips.front();
  auto pointer = [&](std::string_view role, const Secret& secret) {
    ignition::Config made{.ignition = {.version = ignition::Version::v3_2}};
    made.ignition.config.merge = {
        {.source = fmt::format("https://{}/config/{}", net::host_and_port(host, machine_config_server_port), role),
         .http_headers = {{.name = "Authorization", .value = "Bearer " + secret.reveal()}}}};
    made.ignition.security.tls.certificate_authorities = {authority(root.tls)};
    return made;
  };
  return {pointer("master", token.text), pointer("worker", token.worker)};
}

AssetFiles pointer_manifests(const PointerEdits& edits, const Tls& tls) {
  AssetFiles files;
  if (edits.master) files.push_back(pointer_manifest("master", *edits.master, tls));
  if (edits.worker) files.push_back(pointer_manifest("worker", *edits.worker, tls));
  return files;
}

std::string ignition_text(const ignition::Config& config) { return emit_json(ignition::to_json(config), JsonStyle::compact); }

}  // namespace slipway::assets
