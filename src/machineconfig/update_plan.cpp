#include "machineconfig/update_plan.h"

#include "base/text.h"
#include "ignition/data_url.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace slipway::machineconfig {

namespace {

constexpr std::string_view units_folder = "/etc/systemd/system/";
constexpr std::string_view force_file = "/run/machine-config-daemon-force";

// Compares the decoded bytes, because several data URLs can encode the same bytes.
bool is_same(const ignition::Resource& a, const ignition::Resource& b) {
  if (a == b) return true;
  if (!a.compression.value_or("").empty() || !b.compression.value_or("").empty()) return false;
  const auto bytes = [](const ignition::Resource& resource) -> std::optional<std::string> {
    if (!resource.source) return "";
    Result<std::string> decoded = ignition::decode_data_url(*resource.source);
    if (!decoded.ok()) return std::nullopt;
    return std::move(decoded).value();
  };
  const auto first = bytes(a);
  return first && first == bytes(b);
}

bool is_same(const WantedFile& a, const WantedFile& b) {
  return a.mode == b.mode && a.user == b.user && a.group == b.group && a.is_mask == b.is_mask && is_same(a.contents, b.contents);
}

WantedFile from_text(std::string path, const std::string& text) {
  return {.path = std::move(path), .contents = {.source = ignition::encode_data_url(text)}};
}

std::vector<WantedFile> files_of_unit(const ignition::Unit& unit) {
  std::vector<WantedFile> files;
  const std::string path = std::string(units_folder) + unit.name;
  if (unit.mask.value_or(false)) {
    files.push_back({.path = path, .is_mask = true});
  } else if (!unit.contents.value_or("").empty()) {
    files.push_back(from_text(path, *unit.contents));
  }
  for (const ignition::Dropin& dropin : unit.dropins) {
    if (!dropin.contents.value_or("").empty()) files.push_back(from_text(path + ".d/" + dropin.name, *dropin.contents));
  }
  return files;
}

WantedFile file_of(const ignition::File& file) {
  return {.path = file.path,
          .contents = file.contents,
          .mode = static_cast<unsigned>(file.mode.value_or(0644)),
          .user = file.user,
          .group = file.group};
}

// Keys of entries that are in only one of the maps or differ.
template <class T, class Same>
std::vector<std::string> changed(const std::map<std::string, T>& from, const std::map<std::string, T>& to, const Same& same) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : from) {
    const auto other = to.find(key);
    if (other == to.end() || !same(value, other->second)) keys.push_back(key);
  }
  for (const auto& [key, value] : to) {
    if (!from.contains(key)) keys.push_back(key);
  }
  std::ranges::sort(keys);
  return keys;
}

std::map<std::string, WantedFile> files_by_path(const MachineConfig& config) {
  std::map<std::string, WantedFile> files;
  for (const ignition::File& file : config.config.storage.files) files.insert_or_assign(file.path, file_of(file));
  return files;
}

std::map<std::string, ignition::Unit> units_by_name(const MachineConfig& config) {
  std::map<std::string, ignition::Unit> units;
  for (const ignition::Unit& unit : config.config.systemd.units) units.insert_or_assign(unit.name, unit);
  return units;
}

const ignition::User* find_core(const MachineConfig& config) {
  const auto& users = config.config.passwd.users;
  const auto core = std::ranges::find(users, "core", &ignition::User::name);
  return core == users.end() ? nullptr : &*core;
}

// The parts of the users that must not change.
std::vector<ignition::User> fixed_users(const MachineConfig& config) {
  std::vector<ignition::User> users;
  for (ignition::User user : config.config.passwd.users) {
    if (user.name == "core") {
      user.ssh_authorized_keys.clear();
      user.password_hash.reset();
      if (user == ignition::User{.name = "core"}) continue;
    }
    users.push_back(std::move(user));
  }
  return users;
}

std::string image_digest(std::string_view image) {
  const std::size_t at = image.rfind('@');
  return std::string(at == std::string_view::npos ? image : image.substr(at + 1));
}

std::string_view kernel_type(const MachineConfig& config) {
  return config.kernel_type.empty() ? std::string_view("default") : std::string_view(config.kernel_type);
}

Result<> refuse(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return Ok{};
  return error(Code::invalid, "{}", join(reasons, "; "));
}

}  // namespace

std::vector<WantedFile> wanted_files(const MachineConfig& config) {
  std::map<std::string, WantedFile> files = files_by_path(config);
  for (const ignition::Unit& unit : config.config.systemd.units) {
    for (WantedFile& file : files_of_unit(unit)) files.insert_or_assign(file.path, std::move(file));
  }
  std::vector<WantedFile> all;
  for (auto& [path, file] : files) all.push_back(std::move(file));
  return all;
}

CoreAccess core_access(const MachineConfig& config) {
  CoreAccess access;
  const ignition::User* core = find_core(config);
  if (!core) return access;
  for (const std::string& key : core->ssh_authorized_keys) access.keys += key + "\n";
  access.password_hash = core->password_hash.value_or("");
  return access;
}

Differences differences(const MachineConfig& from, const MachineConfig& to) {
  Differences found;
  found.files =
      changed(files_by_path(from), files_by_path(to), [](const WantedFile& a, const WantedFile& b) { return is_same(a, b); });
  found.units = changed(units_by_name(from), units_by_name(to), std::equal_to<ignition::Unit>());
  found.core_access = core_access(from) != core_access(to);
  found.os_image = image_digest(from.os_image_url) != image_digest(to.os_image_url);
  found.kernel = from.kernel_arguments != to.kernel_arguments || kernel_type(from) != kernel_type(to) || from.fips != to.fips;
  // Their image matters only if there are extensions.
  const std::vector<std::string> wanted = wanted_extensions(to);
  found.extensions = wanted_extensions(from) != wanted ||
                     (!wanted.empty() && image_digest(from.extensions_image) != image_digest(to.extensions_image));
  return found;
}

std::vector<std::string> wanted_extensions(const MachineConfig& config) {
  std::set<std::string> names(config.extensions.begin(), config.extensions.end());
  if (config.kernel_type == "realtime") names.emplace(realtime_extension);
  return {names.begin(), names.end()};
}

Actions actions_for(const Differences& differences, const DisruptionPolicy& policy) {
  Actions actions;
  actions.reboot = differences.changes_os();
  const auto run = [&](ServiceAction service) {
    if (std::ranges::find(actions.services, service) == actions.services.end()) actions.services.push_back(std::move(service));
  };
  const auto follow = [&](const DisruptionActions* wanted) {
    actions.reboot = actions.reboot || !wanted;
    if (!wanted) return;
    for (const DisruptionAction& action : *wanted) {
      switch (action.type) {
        case DisruptionAction::Type::reboot: actions.reboot = true; break;
        case DisruptionAction::Type::drain: actions.drain = true; break;
        case DisruptionAction::Type::reload: run({"reload", action.unit}); break;
        case DisruptionAction::Type::restart: run({"restart", action.unit}); break;
        case DisruptionAction::Type::daemon_reload: run({"daemon-reload"}); break;
      }
    }
  };
  // Before the actions of users: the unit that they restart may be the changed one.
  if (!differences.units.empty()) run({"daemon-reload"});
  for (const std::string& path : differences.files) follow(policy.for_file(path));
  for (const std::string& unit : differences.units) follow(policy.for_unit(unit));
  if (differences.core_access) follow(&policy.core_access);
  if (actions.reboot) actions = {.reboot = true};
  return actions;
}

Json to_json(const Actions& actions) {
  JsonArray services;
  for (const ServiceAction& service : actions.services) {
    services.push_back({{"verb", service.verb}, {"unit", service.unit}});
  }
  return {{"reboot", actions.reboot}, {"drain", actions.drain}, {"services", std::move(services)}};
}

Result<Actions> parse_actions(const Json& value, std::string_view name) {
  const Json* reboot = find(value, {"reboot"});
  if (!reboot || !reboot->is_bool()) return error(Code::invalid, "{}: reboot: missing, must be true or false", name);
  Actions actions{.reboot = reboot->get_bool(), .drain = is_true(value, {"drain"})};
  for (const Json& service : find_array(value, {"services"})) {
    std::string verb = TRY(require_string(service, {"verb"}).context(name));
    std::string unit = TRY(require_string(service, {"unit"}).context(name));
    actions.services.push_back({std::move(verb), std::move(unit)});
  }
  return actions;
}

Result<> check_reconcilable(const MachineConfig& from, const MachineConfig& to) {
  const ignition::Config& before = from.config;
  const ignition::Config& after = to.config;
  std::vector<std::string> reasons;
  const auto require_same = [&](bool is_same, std::string_view what) {
    if (!is_same) reasons.push_back(fmt::format("{} cannot change on a running machine", what));
  };
  require_same(before.passwd.groups == after.passwd.groups, "passwd.groups");
  require_same(fixed_users(from) == fixed_users(to), "passwd.users, except keys and password of core,");
  require_same(before.kernel_arguments == after.kernel_arguments, "kernelArguments of Ignition");
  require_same(before.storage.disks == after.storage.disks, "storage.disks");
  require_same(before.storage.raid == after.storage.raid, "storage.raid");
  require_same(before.storage.luks == after.storage.luks, "storage.luks");
  require_same(before.storage.filesystems == after.storage.filesystems, "storage.filesystems");
  require_same(before.storage.directories == after.storage.directories, "storage.directories");
  for (const ignition::Link& link : after.storage.links) {
    const auto known = std::ranges::find(before.storage.links, link.path, &ignition::Link::path);
    require_same(known != before.storage.links.end() && *known == link, fmt::format("storage.links: {}", link.path));
  }
  require_same(from.fips == to.fips, "fips");
  const std::map<std::string, WantedFile> old_files = files_by_path(from);
  for (const auto& [path, file] : files_by_path(to)) {
    if (path == force_file) reasons.push_back(path + " is reserved for the machine-config-daemon");
    if (const auto known = old_files.find(path); known != old_files.end() && is_same(known->second, file)) continue;
    const std::string source = file.contents.source.value_or("data:,");
    const std::string compression = file.contents.compression.value_or("");
    if (!source.starts_with("data:")) reasons.push_back(path + ": contents must be in the config, as a data: URL");
    if (!compression.empty() && compression != "gzip") {
      reasons.push_back(fmt::format("{}: unknown compression '{}'", path, compression));
    }
  }
  return refuse(reasons);
}

Result<> check_kernel_type(const MachineConfig& config) {
  if (config.kernel_type != "64k-pages") return Ok{};
  return error(Code::invalid, "kernelType: 64k-pages: only kernels of arm64 have pages of 64 KiB (use default or realtime)");
}

Result<> check_changeable(const MachineConfig& from, const MachineConfig& to) {
  const Differences found = differences(from, to);
  std::vector<std::string> reasons;
  if (found.os_image && !to.os_image_url.empty() && to.os_image_url.find("@sha256:") == std::string::npos)
    reasons.push_back(fmt::format("osImageURL: {} has no digest", to.os_image_url));
  if (const Result<> checked = check_kernel_type(to); !checked.ok()) reasons.push_back(checked.error().message());
  return refuse(reasons);
}

}  // namespace slipway::machineconfig
