#include "assets/metadata.h"

#include "base/text.h"

namespace slipway::assets {

Json custom_feature_set(const config::InstallConfig& config) {
  if (config.feature_gates.empty()) return nullptr;
  JsonArray enabled, disabled;
  for (const std::string& gate : config.feature_gates) {  // "Name=true"
    const std::vector<std::string_view> parts = split(gate, '=');
    (to_lower(parts.back()) == "true" ? enabled : disabled).emplace_back(parts.front());
  }
  return {{"enabled", std::move(enabled)}, {"disabled", std::move(disabled)}};
}

Metadata make_metadata(const config::InstallConfig& config, const ClusterId& id) {
  JsonObject document = {{"clusterName", config.name}, {"clusterID", id.cluster_id}, {"infraID", id.infra_id}};
  // Platforms whose machines somebody else makes have no member of their own.
  if (config.platform.local) {
    document["local"] = {{"apiVIPs", JsonArray{config.platform.local->api_vip}},
                         {"ingressVIPs", JsonArray{config.platform.local->ingress_vip}}};
  }
  document["featureSet"] = config.feature_set;
  document["customFeatureSet"] = custom_feature_set(config);
  return {std::move(document)};
}

}  // namespace slipway::assets
