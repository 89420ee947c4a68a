#include "base/text.h"
#include "config/convert_platforms.h"
#include "config/document.h"
#include "net/ip.h"

#include <array>

namespace slipway::config {

namespace {

void convert_version(Document& document) {
  const std::string_view version = document.text({"apiVersion"});
  if (version.empty()) {
    document.error("apiVersion", "missing").hint("use 'apiVersion: v1'");
  } else if (version != "v1" && version != "v1beta3" && version != "v1beta4") {
    document.error("apiVersion", "must be v1, got '{}'", version);
  }
  document.value.as_object()["apiVersion"] = "v1";
}

bool is_empty_list(const JsonObject& object, std::string_view name) {
  const Json* list = object.if_contains(name);
  return !list || !list->is_array() || list->get_array().empty();
}

void convert_prefixes(JsonArray& cluster_networks) {
  for (Json& network : cluster_networks) {
    JsonObject* fields = network.if_object();
    const Json* length = fields ? fields->if_contains("hostSubnetLength") : nullptr;
    if (!length || !length->is_int64() || length->get_int64() == 0) continue;
    if (const Json* prefix = fields->if_contains("hostPrefix"); prefix && *prefix != Json(0)) continue;
    const auto cidr = net::parse_cidr(find_string(network, {"cidr"}).value_or(""));
    if (cidr.ok()) (*fields)["hostPrefix"] = cidr->bits() - length->get_int64();
  }
}

// Older releases of OpenShift ignored the case of these names.
void convert_network_type(JsonObject& networking) {
  Json* type = networking.if_contains("networkType");
  if (!type || !type->is_string()) return;
  for (const std::string_view name : {"OVNKubernetes", "OpenShiftSDN"}) {
    if (to_lower(type->get_string()) == to_lower(name)) *type = name;
  }
}

void convert_networking(Document& document) {
  Json* networking = document.value.as_object().if_contains("networking");
  JsonObject* fields = networking ? networking->if_object() : nullptr;
  if (!fields) return;
  const auto text_of = [&](std::string_view name) { return std::string(find_string(*networking, {name}).value_or("")); };
  if (const std::string cidr = text_of("machineCIDR"); !cidr.empty() && is_empty_list(*fields, "machineNetwork")) {
    (*fields)["machineNetwork"] = JsonArray{JsonObject{{"cidr", cidr}}};
    record_conversion(document, "networking.machineNetwork[0].cidr", "networking.machineCIDR");
  }
  if (const std::string cidr = text_of("serviceCIDR"); !cidr.empty() && is_empty_list(*fields, "serviceNetwork")) {
    (*fields)["serviceNetwork"] = JsonArray{Json(cidr)};
    record_conversion(document, "networking.serviceNetwork[0]", "networking.serviceCIDR");
  }
  if (!is_empty_list(*fields, "clusterNetworks") && is_empty_list(*fields, "clusterNetwork")) {
    const JsonArray older = fields->at("clusterNetworks").as_array();
    for (std::size_t i = 0; i < older.size(); ++i) {
      record_conversion(document, fmt::format("networking.clusterNetwork[{}]", i),
                        fmt::format("networking.clusterNetworks[{}]", i));
    }
    (*fields)["clusterNetwork"] = older;
  }
  if (const std::string type = text_of("type"); !type.empty() && text_of("networkType").empty()) {
    (*fields)["networkType"] = type;
    record_conversion(document, "networking.networkType", "networking.type");
  }
  convert_network_type(*fields);
  if (Json* networks = fields->if_contains("clusterNetwork"); networks && networks->is_array()) {
    convert_prefixes(networks->get_array());
  }
}

}  // namespace

void record_conversion(Document& document, const std::string& newer, const std::string& older) {
  document.remember(newer, document.place(older));
  document.remember_older(newer, older);
}

void convert_older_fields(Document& document) {
  convert_version(document);
  convert_networking(document);
  convert_platform(document);
}

}  // namespace slipway::config
