#include "components/service_ca/injection.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/controller/object_parts.h"
#include "kube/contains.h"

#include <algorithm>

namespace slipway::components::service_ca {

namespace {

constexpr std::string_view wish = "service.beta.openshift.io/inject-cabundle",
                           old_wish = "service.alpha.openshift.io/inject-cabundle";
constexpr std::string_view key = "service-ca.crt";

bool asks(const Json& object) {
  return find_string(object, {"metadata", "annotations", wish}) == "true" ||
         find_string(object, {"metadata", "annotations", old_wish}) == "true";
}

// Keys of a ConfigMap that this operator did not write.
std::string other_keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& each : find_object(object, {"data"})) {
    if (each.key() != key) names.emplace_back(each.key());
  }
  for (const auto& each : find_object(object, {"binaryData"})) names.emplace_back(each.key());
  return join(names, ", ");
}

Json head(const Json& object, const kube::ResourceType& type) {
  return {{"apiVersion", type.api_version()}, {"kind", type.kind}, {"metadata", {{"name", kube::name_of(object)}}}};
}

Json client_config(const std::string& encoded) { return {{"clientConfig", {{"caBundle", encoded}}}}; }

Injection for_config_map(const Json& object, const std::string& bundle) {
  Injection injection{&object, kube::types::config_maps, object};
  // The keys may be all that an application has, so the owner decides.
  if (const std::string others = other_keys(object); !others.empty()) {
    injection.problem = fmt::format(
        "a ConfigMap with annotation {} may have no other key than {} (remove {}, or use another ConfigMap)", wish, key, others);
    return injection;
  }
  injection.wanted.as_object()["data"] = JsonObject{{key, bundle}};
  return injection;
}

Injection for_webhooks(const Json& object, const kube::ResourceType& type, const std::string& encoded) {
  Injection injection{&object, type, head(object, type)};
  JsonArray webhooks;
  for (const Json& each : find_array(object, {"webhooks"})) {
    Json webhook = client_config(encoded);
    webhook.as_object()["name"] = text_of(each, {"name"});
    webhooks.push_back(std::move(webhook));
  }
  injection.wanted.as_object()["webhooks"] = std::move(webhooks);
  return injection;
}

Injection for_conversion(const Json& object, const std::string& encoded) {
  Injection injection{&object, kube::types::custom_resource_definitions, head(object, kube::types::custom_resource_definitions)};
  if (find_string(object, {"spec", "conversion", "strategy"}) != "Webhook") {
    injection.problem = fmt::format("annotation {} has no effect: spec.conversion.strategy is not Webhook", wish);
    return injection;
  }
  injection.wanted.as_object()["spec"] =
      JsonObject{{"conversion", {{"strategy", "Webhook"}, {"webhook", client_config(encoded)}}}};
  return injection;
}

Injection for_api_service(const Json& object, const std::string& encoded) {
  Injection injection{&object, kube::types::api_services, head(object, kube::types::api_services)};
  const Json* insecure = find(object, {"spec", "insecureSkipTLSVerify"});
  if (insecure && *insecure == Json(true)) {
    injection.problem = fmt::format("annotation {} has no effect: spec.insecureSkipTLSVerify is true (set it to false)", wish);
    return injection;
  }
  injection.wanted.as_object()["spec"] = JsonObject{{"caBundle", encoded}};
  return injection;
}

}  // namespace

const std::vector<kube::ResourceType>& injected_types() {
  static const std::vector<kube::ResourceType> types = {kube::types::config_maps, kube::types::mutating_webhooks,
                                                        kube::types::validating_webhooks,
                                                        kube::types::custom_resource_definitions, kube::types::api_services};
  return types;
}

Json reduce_injected(const Json& object) {
  if (!asks(object)) return nullptr;
  if (find_string(object, {"kind"}) != kube::types::custom_resource_definitions.kind) return object;
  // Schemas are large.
  JsonObject kept = part_of(object.as_object(), {"apiVersion", "kind", "metadata"});
  kept["spec"] = JsonObject{{"conversion", find_object(object, {"spec", "conversion"})}};
  return kept;
}

std::vector<Injection> plan_injections(const Snapshot& seen, const std::string& bundle) {
  std::vector<Injection> injections;
  const std::string encoded = base64_encode(bundle);
  for (const kube::ResourceType& type : injected_types()) {
    for (const Json* object : seen.list(type)) {
      if (!asks(*object) || is_terminating(*object)) continue;
      Injection injection = type == kube::types::config_maps                   ? for_config_map(*object, bundle)
                            : type == kube::types::custom_resource_definitions ? for_conversion(*object, encoded)
                            : type == kube::types::api_services                ? for_api_service(*object, encoded)
                                                                               : for_webhooks(*object, type, encoded);
      if (!injection.problem.empty() || kube::first_difference(injection.wanted, *object))
        injections.push_back(std::move(injection));
    }
  }
  return injections;
}

}  // namespace slipway::components::service_ca
