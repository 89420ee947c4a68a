#include "config/convert_platforms.h"

#include <algorithm>
#include <functional>

namespace slipway::config {

namespace {

bool is_true(const JsonObject& object, std::string_view name) {
  const Json* value = object.if_contains(name);
  return value && *value == Json(true);
}

JsonObject* object_in(JsonObject& object, std::string_view name) {
  Json* value = object.if_contains(name);
  return value ? value->if_object() : nullptr;
}

JsonArray* list_in(JsonObject& object, std::string_view name) {
  Json* value = object.if_contains(name);
  return value ? value->if_array() : nullptr;
}

// The section of a platform, with its path.
struct PlatformSection {
  Document& document;
  std::string path;
  JsonObject& fields;

  std::string at(std::string_view name) const { return fmt::format("{}.{}", path, name); }

  void report_contradiction(std::string_view older, std::string_view newer) const {
    document.error(at(older), "contradicts {}", newer).hint(fmt::format("remove it, {} is enough", newer));
  }

  // The field has a new name.
  void rename(std::string_view older, std::string_view newer) const {
    const std::string value = text_of(fields, older);
    if (value.empty()) return;
    if (const std::string today = text_of(fields, newer); !today.empty()) {
      if (today != value) report_contradiction(older, newer);
      return;
    }
    fields[newer] = value;
    record_conversion(document, at(newer), at(older));
  }

  // The field has become the only item of a list.
  void into_list(std::string_view older, std::string_view newer) const {
    const std::string value = text_of(fields, older);
    if (value.empty()) return;
    JsonArray* list = list_in(fields, newer);
    if (list && !list->empty()) {
      if (std::ranges::find(*list, Json(value)) == list->end()) report_contradiction(older, newer);
      return;
    }
    fields[newer] = JsonArray{Json(value)};
    record_conversion(document, at(newer) + "[0]", at(older));
  }

  // The field has moved to defaultMachinePlatform. may_differ: no error if both have different values.
  void into_default_pool(std::string_view older, std::string_view newer, bool may_differ) const {
    const std::string value = text_of(fields, older);
    if (value.empty()) return;
    Json& pool = fields["defaultMachinePlatform"];
    if (!pool.is_object()) pool = JsonObject();
    const std::string today = text_of(pool.get_object(), newer);
    const std::string newer_path = fmt::format("defaultMachinePlatform.{}", newer);
    if (today.empty()) {
      pool.get_object()[newer] = value;
      record_conversion(document, at(newer_path), at(older));
    } else if (today != value && !may_differ) {
      report_contradiction(older, newer_path);
    }
  }
};

void convert_addresses(const PlatformSection& section) {
  section.into_list("apiVIP", "apiVIPs");
  section.into_list("ingressVIP", "ingressVIPs");
}

void convert_baremetal(const PlatformSection& section) {
  convert_addresses(section);
  section.rename("provisioningHostIP", "clusterProvisioningIP");
  if (is_true(section.fields, "provisioningDHCPExternal") && text_of(section.fields, "provisioningNetwork").empty()) {
    section.fields["provisioningNetwork"] = "Unmanaged";
    record_conversion(section.document, section.at("provisioningNetwork"), section.at("provisioningDHCPExternal"));
  }
}

// Moves rootVolume.type to rootVolume.types. This is the only deprecated field that is removed: a config with both fields is an
// error, so the effective config could not be read again.
void convert_volume(Document& document, JsonObject* pool, const std::string& path) {
  JsonObject* volume = pool ? object_in(*pool, "rootVolume") : nullptr;
  const std::string type = volume ? text_of(*volume, "type") : "";
  if (type.empty()) return;
  if (JsonArray* types = list_in(*volume, "types"); types && !types->empty()) {
    document.error(path + ".rootVolume.type", "cannot be used with types").hint("remove it, types is enough");
    return;
  }
  (*volume)["types"] = JsonArray{Json(type)};
  volume->erase("type");
  record_conversion(document, path + ".rootVolume.types[0]", path + ".rootVolume.type");
}

void convert_subnet(const PlatformSection& section) {
  const std::string id = text_of(section.fields, "machinesSubnet");
  if (id.empty()) return;
  if (const Json* port = section.fields.if_contains("controlPlanePort")) {
    const JsonArray& addresses = find_array(*port, {"fixedIPs"});
    if (addresses.size() != 1 || find_string(addresses[0], {"subnet", "id"}) != id) {
      section.report_contradiction("machinesSubnet", "controlPlanePort");
    }
    return;
  }
  section.fields["controlPlanePort"] = JsonObject{{"fixedIPs", JsonArray{JsonObject{{"subnet", JsonObject{{"id", id}}}}}}};
  record_conversion(section.document, section.at("controlPlanePort.fixedIPs[0].subnet.id"), section.at("machinesSubnet"));
}

// Calls `visit` with the section of the platform in each pool of the document, and with the path of the section.
void for_each_pool(const PlatformSection& section, std::string_view platform,
                   const std::function<void(JsonObject* pool, const std::string& path)>& visit) {
  JsonObject& config = section.document.value.as_object();
  const auto visit_pool = [&](JsonObject* pool, const std::string& path) {
    JsonObject* sections = pool ? object_in(*pool, "platform") : nullptr;
    if (sections) visit(object_in(*sections, platform), fmt::format("{}.platform.{}", path, platform));
  };
  visit_pool(object_in(config, "controlPlane"), "controlPlane");
  if (JsonArray* compute = list_in(config, "compute")) {
    for (std::size_t i = 0; i < compute->size(); ++i) visit_pool((*compute)[i].if_object(), fmt::format("compute[{}]", i));
  }
  visit(object_in(section.fields, "defaultMachinePlatform"), section.at("defaultMachinePlatform"));
}

void convert_openstack(const PlatformSection& section) {
  convert_addresses(section);
  section.rename("lbFloatingIP", "apiFloatingIP");
  section.into_default_pool("computeFlavor", "type", false);
  convert_subnet(section);
  for_each_pool(section, "openstack",
                [&](JsonObject* pool, const std::string& path) { convert_volume(section.document, pool, path); });
}

void convert_aws(const PlatformSection& section) {
  section.into_default_pool("amiID", "amiID", true);
  if (const Json* older = section.fields.if_contains("experimentalPropagateUserTags"); older && older->is_bool()) {
    const bool value = older->get_bool();
    section.fields["propagateUserTags"] = value;
    record_conversion(section.document, section.at("propagateUserTags"), section.at("experimentalPropagateUserTags"));
  }
  if (is_true(section.fields, "preserveBootstrapIgnition")) section.fields["bestEffortDeleteIgnition"] = true;
}

// OpenShift's installer puts IPv4 first on oVirt, whatever the order in the file.
void put_v4_first(JsonArray* addresses) {
  if (!addresses) return;
  std::stable_sort(addresses->begin(), addresses->end(), [](const Json& a, const Json& b) {
    const auto is_v6 = [](const Json& value) { return find_string(value, {}).value_or("").find(':') != std::string_view::npos; };
    return !is_v6(a) && is_v6(b);
  });
}

void convert_ovirt(const PlatformSection& section) {
  section.into_list("api_vip", "api_vips");
  section.into_list("ingress_vip", "ingress_vips");
  put_v4_first(list_in(section.fields, "api_vips"));
  put_v4_first(list_in(section.fields, "ingress_vips"));
}

}  // namespace

void convert_platform(Document& document) {
  const std::string type = platform_type(document);
  JsonObject* platforms = object_in(document.value.as_object(), "platform");
  JsonObject* fields = platforms ? object_in(*platforms, type) : nullptr;
  if (!fields) return;
  const PlatformSection section{document, "platform." + type, *fields};
  if (type == "baremetal") convert_baremetal(section);
  if (type == "openstack") convert_openstack(section);
  if (type == "aws") convert_aws(section);
  if (type == "ovirt") convert_ovirt(section);
  if (type == "vsphere") {
    convert_addresses(section);
    convert_vsphere(document, *fields);
  }
}

}  // namespace slipway::config
