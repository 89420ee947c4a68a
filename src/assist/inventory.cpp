#include "assist/inventory.h"

#include "base/findings.h"
#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::assist {

namespace {

// Reads members of an object. A member of the wrong kind becomes a finding and is read as empty.
class Reader {
 public:
  Reader(const Json& value, std::string path, Findings& findings) : value_(value), path_(std::move(path)), findings_(findings) {
    if (!value.is_object()) wrong("", "an object", value);
  }

  std::string text(std::string_view key) const {
    const Json* member = find(value_, {key});
    if (!member || member->is_null()) return "";
    if (const auto* text = member->if_string()) return std::string(*text);
    wrong(key, "a string", *member);
    return "";
  }

  bool flag(std::string_view key) const {
    const Json* member = find(value_, {key});
    if (!member || member->is_null()) return false;
    if (const bool* flag = member->if_bool()) return *flag;
    wrong(key, "a boolean", *member);
    return false;
  }

  // From 0 to the largest number of the type.
  template <class Number>
  Number number(std::string_view key) const {
    const Json* member = find(value_, {key});
    if (!member || member->is_null()) return 0;
    if (const std::int64_t* number = member->if_int64(); number && *number >= 0 && std::in_range<Number>(*number)) {
      return static_cast<Number>(*number);
    }
    if (const std::uint64_t* number = member->if_uint64(); number && std::in_range<Number>(*number)) {
      return static_cast<Number>(*number);
    }
    wrong(key, "a number that is not negative", *member);
    return 0;
  }

  Reader object(std::string_view key) const {
    static const Json none = JsonObject{};
    const Json* member = find(value_, {key});
    return {member && !member->is_null() ? *member : none, path_of(key), findings_};
  }

  template <class Each>
  void each(std::string_view key, const Each& take) const {
    const Json* member = find(value_, {key});
    if (!member || member->is_null()) return;
    if (!member->is_array()) return wrong(key, "a list", *member);
    int index = 0;
    for (const Json& item : member->get_array()) take(Reader(item, fmt::format("{}[{}]", path_of(key), index++), findings_));
  }

  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> found;
    const Json* member = find(value_, {key});
    if (!member || member->is_null()) return found;
    if (!member->is_array()) {
      wrong(key, "a list of strings", *member);
      return found;
    }
    for (const Json& item : member->get_array()) {
      if (const auto* text = item.if_string()) {
        found.emplace_back(*text);
      } else {
        wrong(key, "a list of strings", item);
      }
    }
    return found;
  }

  void addresses(std::string_view key, bool is_v4, std::vector<net::Cidr>& into) const {
    for (const std::string& text : texts(key)) {
      const Result<net::Cidr> address = net::parse_cidr(text);
      if (address.ok() && address->is_v4() == is_v4) {
        into.push_back(address.value());
      } else {
        findings_.error({}, path_of(key), "'{}' is no {} address with a prefix length", to_utf8(text), is_v4 ? "IPv4" : "IPv6");
      }
    }
  }

 private:
  std::string path_of(std::string_view key) const { return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key); }

  void wrong(std::string_view key, std::string_view kind, const Json& value) const {
    findings_.error({}, key.empty() ? path_ : path_of(key), "must be {}, is {}", kind, kind_name(value));
  }

  const Json& value_;
  std::string path_;
  Findings& findings_;
};

Interface read_interface(const Reader& object) {
  Interface found{.name = object.text("name"),
                  .mac_address = to_lower(object.text("mac_address")),
                  .type = object.text("type"),
                  .mtu = object.number<int>("mtu"),
                  .speed_mbps = object.number<int>("speed_mbps"),
                  .has_carrier = object.flag("has_carrier"),
                  .vendor = object.text("vendor"),
                  .product = object.text("product")};
  object.addresses("ipv4_addresses", true, found.addresses);
  object.addresses("ipv6_addresses", false, found.addresses);
  return found;
}

Disk read_disk(const Reader& object) {
  return {.id = object.text("id"),
          .name = object.text("name"),
          .path = object.text("path"),
          .by_id = object.text("by_id"),
          .by_path = object.text("by_path"),
          .hctl = object.text("hctl"),
          .drive_type = object.text("drive_type"),
          .model = object.text("model"),
          .vendor = object.text("vendor"),
          .serial = object.text("serial"),
          .wwn = object.text("wwn"),
          .size_bytes = object.number<std::uint64_t>("size_bytes"),
          .bootable = object.flag("bootable"),
          .removable = object.flag("removable"),
          .is_installation_media = object.flag("is_installation_media"),
          .reasons = object.object("installation_eligibility").texts("not_eligible_reasons")};
}

Route read_route(const Reader& object) {
  const std::string destination = object.text("destination");
  const std::size_t slash = destination.find('/');
  const std::optional<int> prefix =
      slash == std::string::npos ? std::nullopt : parse_number<int>(std::string_view(destination).substr(slash + 1));
  return {.interface = object.text("interface"),
          .gateway = object.text("gateway"),
          .destination = destination.substr(0, slash),
          .prefix = prefix.value_or(0),
          .metric = object.number<int>("metric")};
}

Json to_json(const Interface& interface) {
  JsonArray v4, v6;
  for (const net::Cidr& address : interface.addresses) (address.is_v4() ? v4 : v6).emplace_back(net::to_string(address));
  return {{"name", interface.name},         {"mac_address", interface.mac_address}, {"type", interface.type},
          {"mtu", interface.mtu},           {"speed_mbps", interface.speed_mbps},   {"has_carrier", interface.has_carrier},
          {"vendor", interface.vendor},     {"product", interface.product},         {"ipv4_addresses", std::move(v4)},
          {"ipv6_addresses", std::move(v6)}};
}

Json to_json(const Disk& disk) {
  return {{"id", disk.id},
          {"name", disk.name},
          {"path", disk.path},
          {"by_id", disk.by_id},
          {"by_path", disk.by_path},
          {"hctl", disk.hctl},
          {"drive_type", disk.drive_type},
          {"model", disk.model},
          {"vendor", disk.vendor},
          {"serial", disk.serial},
          {"wwn", disk.wwn},
          {"size_bytes", disk.size_bytes},
          {"bootable", disk.bootable},
          {"removable", disk.removable},
          {"is_installation_media", disk.is_installation_media},
          {"installation_eligibility", {{"eligible", disk.reasons.empty()}, {"not_eligible_reasons", array_of(disk.reasons)}}}};
}

Json to_json(const Route& route) {
  return {{"interface", route.interface},
          {"gateway", route.gateway},
          {"destination", fmt::format("{}/{}", route.destination, route.prefix)},
          {"family", route.destination.find(':') == std::string::npos ? 2 : 10},  // AF_INET, AF_INET6
          {"metric", route.metric}};
}

template <class Item>
JsonArray to_array(const std::vector<Item>& items) {
  JsonArray all;
  for (const Item& item : items) all.push_back(to_json(item));
  return all;
}

}  // namespace

Result<Inventory> parse_inventory(const Json& value, std::string_view name) {
  Findings findings;
  const Reader object(value, "", findings);
  const Reader cpu = object.object("cpu"), memory = object.object("memory"), vendor = object.object("system_vendor");
  Inventory found{.hostname = object.text("hostname"),
                  .cpu_count = cpu.number<int>("count"),
                  .cpu_architecture = cpu.text("architecture"),
                  .cpu_model = cpu.text("model_name"),
                  .memory_bytes = memory.number<std::uint64_t>("physical_bytes"),
                  .usable_memory_bytes = memory.number<std::uint64_t>("usable_bytes"),
                  .boot_mode = object.object("boot").text("current_boot_mode"),
                  .manufacturer = vendor.text("manufacturer"),
                  .product = vendor.text("product_name"),
                  .serial_number = vendor.text("serial_number"),
                  .is_virtual = vendor.flag("virtual"),
                  .bmc_address = object.text("bmc_address"),
                  .tpm_version = object.text("tpm_version")};
  object.each("gpus", [&](const Reader& gpu) { found.gpus.push_back(gpu.text("name")); });
  object.each("interfaces", [&](const Reader& each) { found.interfaces.push_back(read_interface(each)); });
  object.each("disks", [&](const Reader& each) { found.disks.push_back(read_disk(each)); });
  object.each("routes", [&](const Reader& each) { found.routes.push_back(read_route(each)); });
  TRY(findings.to_result().context(name));
  return found;
}

Json to_json(const Inventory& inventory) {
  JsonArray gpus;
  for (const std::string& name : inventory.gpus) gpus.push_back(Json{{"name", name}});
  return {{"hostname", inventory.hostname},
          {"cpu",
           {{"count", inventory.cpu_count}, {"architecture", inventory.cpu_architecture}, {"model_name", inventory.cpu_model}}},
          {"memory", {{"physical_bytes", inventory.memory_bytes}, {"usable_bytes", inventory.usable_memory_bytes}}},
          {"boot", {{"current_boot_mode", inventory.boot_mode}}},
          {"system_vendor",
           {{"manufacturer", inventory.manufacturer},
            {"product_name", inventory.product},
            {"serial_number", inventory.serial_number},
            {"virtual", inventory.is_virtual}}},
          {"bmc_address", inventory.bmc_address},
          {"tpm_version", inventory.tpm_version},
          {"gpus", std::move(gpus)},
          {"interfaces", to_array(inventory.interfaces)},
          {"disks", to_array(inventory.disks)},
          {"routes", to_array(inventory.routes)}};
}

}  // namespace slipway::assist
