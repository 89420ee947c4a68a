#include "provider/libvirt/documents.h"

#include "base/check.h"
#include "base/template.h"
#include "data/data.h"
#include "provider/libvirt/xml.h"

#include <fmt/core.h>

namespace slipway::provider::libvirt {

namespace {

// The values are escaped, except those that are XML of another template: their names end with _XML.
std::string filled(std::string_view name, TemplateValues values) {
  for (auto& [key, value] : values) {
    if (!key.ends_with("_XML")) value = xml_escaped(value);
  }
  const std::string path = fmt::format("libvirt/{}.xml", name);
  Result<std::string> text = fill_template(data::content(data::provider(), path), path, values);
  CHECK(text.ok());
  return std::move(text).value();
}

// A fragment without its last newline, which its place in the other template has.
std::string fragment(std::string_view name, TemplateValues values) {
  std::string text = filled(name, std::move(values));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string text(const Json& spec, std::string_view name) { return text_of(spec, {name}); }

std::string number(const Json& spec, std::string_view name) {
  const Json* value = find(spec, {name});
  return value ? emit_json(*value, JsonStyle::compact) : "0";
}

}  // namespace

std::string pool_xml(const plan::Resource& pool) {
  return filled("pool", {{"NAME", pool.name}, {"PATH", text(pool.spec, "path")}});
}

std::string network_xml(const plan::Resource& network) {
  const Json& spec = network.spec;
  std::string hosts, options;
  for (const Json& host : find_array(spec, {"hosts"})) {
    hosts +=
        fragment("address", {{"MAC", text(host, "mac")}, {"MACHINE", text(host, "machine")}, {"ADDRESS", text(host, "address")}});
  }
  for (const Json& option : find_array(spec, {"options"})) {
    options += fragment("dnsmasq-option", {{"OPTION", std::string(option.get_string())}});
  }
  return filled("network", {{"NAME", network.name},
                            {"BRIDGE", text(spec, "bridge")},
                            {"DOMAIN", text(spec, "domain")},
                            {"API_VIP", text(spec, "apiVIP")},
                            {"INGRESS_VIP", text(spec, "ingressVIP")},
                            {"GATEWAY", text(spec, "gateway")},
                            {"PREFIX", number(spec, "prefix")},
                            {"RANGE_START", text(spec, "rangeStart")},
                            {"RANGE_END", text(spec, "rangeEnd")},
                            {"HOSTS_XML", std::move(hosts)},
                            {"OPTIONS_XML", std::move(options)}});
}

std::string volume_xml(const NewVolume& volume) {
  return filled("volume",
                {{"NAME", volume.name},
                 {"CAPACITY", std::to_string(volume.capacity)},
                 {"FORMAT", std::string(volume.format)},
                 {"MODE", std::string(volume.mode)},
                 {"BACKING_XML", volume.backing_path.empty() ? "" : fragment("backing", {{"PATH", volume.backing_path}})}});
}

std::string kvm_probe_xml(std::string_view name) { return filled("probe", {{"NAME", std::string(name)}}); }

std::string machine_xml(const plan::Resource& machine, std::string_view pool_path) {
  const Json& spec = machine.spec;
  const auto in_pool = [&](std::string_view name) { return fmt::format("{}/{}", pool_path, text(spec, name)); };
  const bool has_medium = text(spec, "channel") == "config-drive";
  const std::string config = in_pool("config");
  return filled("machine", {{"VIRTUALIZATION", text(spec, "virtualization")},
                            {"NAME", machine.name},
                            {"CLUSTER", text(spec, "cluster")},
                            {"MACHINE", text(spec, "machine")},
                            {"ROLE", text(spec, "role")},
                            {"AFTER", text(spec, "after")},
                            {"RELEASE", text(spec, "release")},
                            {"VERSION", text(spec, "version")},
                            {"MEMORY", number(spec, "memoryMiB")},
                            {"CPUS", number(spec, "cpus")},
                            {"FIRMWARE_XML", text(spec, "firmware") == "efi" ? " firmware='efi'" : ""},
                            {"FEATURES_XML", text(spec, "firmware") == "efi" ? fragment("no-secure-boot", {}) : ""},
                            {"SYSTEM_INFORMATION_XML", has_medium ? "" : fragment("fw-cfg", {{"PATH", config}})},
                            {"CPU", text(spec, "virtualization") == "kvm" ? "host-passthrough" : "maximum"},
                            {"DISK", in_pool("disk")},
                            {"CONFIG_DRIVE_XML", has_medium ? fragment("config-drive", {{"PATH", config}}) : ""},
                            {"INTERFACE", text(spec, "interface")},
                            {"MAC", text(spec, "mac")},
                            {"NETWORK", text(spec, "network")},
                            {"CONSOLE_LOG", in_pool("consoleLog")}});
}

}  // namespace slipway::provider::libvirt
