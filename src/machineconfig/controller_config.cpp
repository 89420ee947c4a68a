#include "machineconfig/controller_config.h"

#include "base/digest.h"
#include "base/findings.h"
#include "base/text.h"
#include "machineconfig/labels.h"

#include <array>

namespace slipway::machineconfig {

namespace {

using Config = ControllerConfig;

struct TextField {
  std::string_view key;
  std::string Config::*member;
};

constexpr std::array plain_fields = {
    TextField{"baseOSContainerImage", &Config::os_image},
    TextField{"baseOSExtensionsContainerImage", &Config::extensions_image},
    TextField{"cloudProviderConfig", &Config::cloud_provider_config},
    TextField{"clusterDNSIP", &Config::cluster_dns_ip},
    TextField{"ipFamilies", &Config::ip_families},
    TextField{"networkType", &Config::network_type},
    TextField{"platform", &Config::platform},
    TextField{"releaseImage", &Config::release_image},
};

// Binary fields, base64 in the object.
constexpr std::array encoded_fields = {
    TextField{"additionalTrustBundle", &Config::additional_trust_bundle},
    TextField{"cloudProviderCAData", &Config::cloud_provider_ca},
    TextField{"kubeAPIServerServingCAData", &Config::kubelet_client_ca},
    TextField{"rootCAData", &Config::root_ca},
};

struct ObjectField {
  std::string_view key;
  Json Config::*member;
};
constexpr std::array object_fields = {ObjectField{"dns", &Config::dns}, ObjectField{"infra", &Config::infrastructure},
                                      ObjectField{"proxy", &Config::proxy}};

struct ListField {
  std::string_view key;
  std::string_view older_key;  // in clusters that an earlier version installed; read, never written
  std::vector<std::string> Config::*member;
};
constexpr std::array annotated_lists = {
    ListField{"slipway.internal/api-vips", "slipway.invalid/api-vips", &Config::api_vips},
    ListField{"slipway.internal/ingress-vips", "slipway.invalid/ingress-vips", &Config::ingress_vips}};

}  // namespace

std::string ControllerConfig::internal_api_url() const { return text_of(infrastructure, {"status", "apiServerInternalURI"}); }

Json to_json(const ControllerConfig& config) {
  JsonObject annotations = {{config_generated_by, config.version}};
  for (const ListField& field : annotated_lists) {
    const auto& list = config.*field.member;
    if (!list.empty()) annotations[field.key] = join(list, ",");
  }
  JsonObject spec = {{"imageRegistryBundleData", JsonArray()},
                     {"imageRegistryBundleUserData", JsonArray()},
                     {"internalRegistryPullSecret", nullptr},
                     {"network", nullptr},
                     {"osImageURL", ""}};
  for (const TextField& field : plain_fields) spec[field.key] = config.*field.member;
  for (const TextField& field : encoded_fields) {
    const std::string& text = config.*field.member;
    spec[field.key] = text.empty() ? Json() : Json(base64_encode(text));
  }
  for (const ObjectField& field : object_fields) spec[field.key] = config.*field.member;
  JsonObject images;
  for (const auto& [key, image] : config.images) images[key] = image;
  spec["images"] = std::move(images);
  return {{"apiVersion", api_version},
          {"kind", "ControllerConfig"},
          {"metadata", {{"name", "machine-config-controller"}, {"annotations", std::move(annotations)}}},
          {"spec", std::move(spec)}};
}

Result<ControllerConfig> parse_controller_config(const Json& object, std::string_view name) {
  const Place place{std::string(name)};
  Findings findings;
  const auto spec_text = [&](std::string_view key) -> std::string {
    const Json* value = find(object, {"spec", key});
    if (!value || value->is_null()) return "";
    if (const auto* text = value->if_string()) return std::string(*text);
    findings.error(place, fmt::format("spec.{}", key), "must be a string, got {}", kind_name(*value));
    return "";
  };
  ControllerConfig config;
  config.version = find_string(object, {"metadata", "annotations", config_generated_by}).value_or("");
  for (const TextField& field : plain_fields) config.*field.member = spec_text(field.key);
  for (const TextField& field : encoded_fields) {
    Result<std::string> decoded = base64_decode(spec_text(field.key));
    if (decoded.ok())
      config.*field.member = std::move(decoded).value();
    else
      findings.error(place, fmt::format("spec.{}", field.key), "{}", decoded.error().message());
  }
  for (const ObjectField& field : object_fields) {
    if (const Json* value = find(object, {"spec", field.key})) config.*field.member = *value;
  }
  for (const ListField& field : annotated_lists) {
    std::string list = text_of(object, {"metadata", "annotations", field.key});
    if (list.empty()) list = text_of(object, {"metadata", "annotations", field.older_key});
    if (list.empty()) continue;
    for (std::string_view item : split(list, ',')) (config.*field.member).emplace_back(item);
  }
  for (const auto& member : find_object(object, {"spec", "images"})) {
    if (const auto* image = member.value().if_string())
      config.images.emplace(member.key(), *image);
    else
      findings.error(place, fmt::format("spec.images.{}", std::string_view(member.key())), "must be a string");
  }
  TRY(findings.to_result());
  return config;
}

}  // namespace slipway::machineconfig
