#include "machineconfig/types.h"

#include "base/findings.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "ignition/validate.h"
#include "machineconfig/labels.h"

#include <algorithm>
#include <array>

namespace slipway::machineconfig {

namespace {

// Extensions of the operating system. OpenShift allows the same names.
constexpr std::array known_extensions = {"ipsec",       "kerberos", "kernel-devel", "sandboxed-containers",
                                         "two-node-ha", "sysstat",  "usbguard"};
constexpr std::array kernel_types = {"", "default", "realtime", "64k-pages"};

// Reads members of an object. A member of the wrong kind becomes a finding and is read as empty.
class Reader {
 public:
  Reader(const JsonObject& object, std::string path, const Place& place, Findings& findings)
      : object_(object), path_(std::move(path)), place_(place), findings_(findings) {}

  std::string text(std::string_view key) {
    const Json* value = object_.if_contains(key);
    if (!value || value->is_null()) return "";
    if (const auto* text = value->if_string()) return std::string(*text);
    wrong(std::string(key), "a string", *value);
    return "";
  }

  bool flag(std::string_view key) {
    const Json* value = object_.if_contains(key);
    if (!value || value->is_null()) return false;
    if (const bool* flag = value->if_bool()) return *flag;
    wrong(std::string(key), "a boolean", *value);
    return false;
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> all;
    const Json* value = object_.if_contains(key);
    if (!value || value->is_null()) return all;
    const auto* items = value->if_array();
    if (!items) wrong(std::string(key), "a list", *value);
    for (std::size_t i = 0; items && i < items->size(); ++i) {
      const Json& item = (*items)[i];
      if (const auto* text = item.if_string())
        all.emplace_back(*text);
      else
        wrong(fmt::format("{}[{}]", key, i), "a string", item);
    }
    return all;
  }

  std::map<std::string, std::string> pairs(std::string_view key) {
    std::map<std::string, std::string> all;
    const Json* value = object_.if_contains(key);
    if (!value || value->is_null()) return all;
    const auto* members = value->if_object();
    if (!members) {
      wrong(std::string(key), "an object", *value);
      return all;
    }
    for (const auto& member : *members) {
      if (const auto* text = member.value().if_string())
        all.emplace(member.key(), *text);
      else
        wrong(fmt::format("{}[{}]", key, std::string_view(member.key())), "a string", member.value());
    }
    return all;
  }

 private:
  void wrong(const std::string& key, std::string_view needed, const Json& value) {
    findings_.error(place_, path_ + "." + key, "must be {}, got {}", needed, kind_name(value));
  }

  const JsonObject& object_;
  std::string path_;
  const Place& place_;
  Findings& findings_;
};

// Parts of an Ignition config that the machine-config-daemon cannot apply.
void check_for_daemon(const ignition::Config& config, const Place& place, Findings& findings) {
  for (std::size_t i = 0; i < config.storage.files.size(); ++i) {
    const ignition::File& file = config.storage.files[i];
    const std::string path = fmt::format("spec.config.storage.files[{}]", i);
    if (file.mode.value_or(0) > 0777) findings.error(place, path + ".mode", "special mode bits are not supported");
    if (!file.append.empty()) findings.error(place, path + ".append", "not supported").hint("use contents with the whole file");
  }
}

void check_scalars(const MachineConfig& config, const Place& place, Findings& findings) {
  if (std::ranges::find(kernel_types, config.kernel_type) == kernel_types.end()) {
    findings.error(place, "spec.kernelType", "must be default, realtime or 64k-pages, got '{}'", config.kernel_type);
  }
  for (const std::string& extension : config.extensions) {
    if (std::ranges::find(known_extensions, extension) != known_extensions.end()) continue;
    findings.error(place, "spec.extensions", "unknown extension '{}'", extension)
        .hint("known: " + join({known_extensions.begin(), known_extensions.end()}, ", "));
  }
}

}  // namespace

std::string MachineConfig::role() const {
  const auto found = labels.find(std::string(role_label));
  return found == labels.end() ? "" : found->second;
}

Result<MachineConfig> parse_machine_config(const Json& object, std::string_view name) {
  const Place place{std::string(name)};
  Findings findings;
  Reader metadata(find_object(object, {"metadata"}), "metadata", place, findings);
  Reader spec(find_object(object, {"spec"}), "spec", place, findings);
  MachineConfig config;
  config.name = metadata.text("name");
  config.labels = metadata.pairs("labels");
  config.annotations = metadata.pairs("annotations");
  config.os_image_url = spec.text("osImageURL");
  config.extensions_image = spec.text("baseOSExtensionsContainerImage");
  config.kernel_arguments = spec.texts("kernelArguments");
  config.extensions = spec.texts("extensions");
  config.kernel_type = spec.text("kernelType");
  config.fips = spec.flag("fips");
  if (config.name.empty()) findings.error(place, "metadata.name", "missing");
  check_scalars(config, place, findings);
  // The config may be absent. If it is present, it must have a version.
  if (const Json* written = find(object, {"spec", "config"}); written && !written->is_null()) {
    ignition::Parsed parsed = ignition::parse(*written, "spec.config");
    if (!parsed.findings.has_errors()) parsed.findings.append(ignition::validate(parsed.config, "spec.config"));
    findings.append(ignition::located(parsed.findings, [&](std::string_view) { return place; }));
    config.config = std::move(parsed.config);
    check_for_daemon(config.config, place, findings);
  }
  TRY(findings.to_result());
  return config;
}

Json to_json(const MachineConfig& config) {
  JsonObject metadata = {{"name", config.name}};
  for (const auto& [key, pairs] : {std::pair{"labels", &config.labels}, std::pair{"annotations", &config.annotations}}) {
    JsonObject members;
    for (const auto& [name, value] : *pairs) members[name] = value;
    if (!members.empty()) metadata[key] = std::move(members);
  }
  return {{"apiVersion", api_version},
          {"kind", "MachineConfig"},
          {"metadata", std::move(metadata)},
          {"spec",
           {{"baseOSExtensionsContainerImage", config.extensions_image},
            {"config", ignition::to_json(config.config)},
            {"extensions", JsonArray(config.extensions.begin(), config.extensions.end())},
            {"fips", config.fips},
            {"kernelArguments", JsonArray(config.kernel_arguments.begin(), config.kernel_arguments.end())},
            {"kernelType", config.kernel_type},
            {"osImageURL", config.os_image_url}}}};
}

Result<Pool> parse_pool(const Json& object, std::string_view name) {
  const Place place{std::string(name)};
  Findings findings;
  Pool pool;
  pool.name = find_string(object, {"metadata", "name"}).value_or("");
  if (pool.name.empty()) findings.error(place, "metadata.name", "missing");
  const JsonObject& labels = find_object(object, {"spec", "machineConfigSelector", "matchLabels"});
  for (const auto& member : labels) {
    const auto* text = member.value().if_string();
    if (member.key() == role_label && text)
      pool.roles.emplace_back(*text);
    else
      findings.error(place, "spec.machineConfigSelector.matchLabels", "only {} is supported", role_label);
  }
  for (const Json& expression : find_array(object, {"spec", "machineConfigSelector", "matchExpressions"})) {
    const JsonArray& values = find_array(expression, {"values"});
    if (find_string(expression, {"key"}) != role_label || find_string(expression, {"operator"}) != "In" || values.empty()) {
      findings.error(place, "spec.machineConfigSelector.matchExpressions", "only {} In [...] is supported", role_label);
    }
    for (const Json& value : values) {
      if (const auto* text = value.if_string()) pool.roles.emplace_back(*text);
    }
  }
  if (pool.roles.empty() && !findings.has_errors()) {
    findings.error(place, "spec.machineConfigSelector", "selects nothing").hint("select by the label " + std::string(role_label));
  }
  TRY(findings.to_result());
  pool.object = object;
  return pool;
}

}  // namespace slipway::machineconfig
