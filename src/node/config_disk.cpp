#include "node/config_disk.h"

#include "base/text.h"
#include "ignition/data_url.h"
#include "machineconfig/machine_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;
using machineconfig::WantedFile;

const std::string folder = "/etc/machine-config-daemon";
const std::string current_file = folder + "/currentconfig";
const std::string next_file = folder + "/nextconfig";
constexpr const char* after_update_file = "/run/machine-config-daemon/after-update.json";
constexpr const char* force_file = "/run/machine-config-daemon-force";
constexpr const char* kubelet_ca_file = "/etc/kubernetes/kubelet-ca.crt";
constexpr const char* core_home = "/home/core/.ssh";
constexpr const char* core_keys = "/home/core/.ssh/authorized_keys.d/ignition";
constexpr const char* accounts_folder = "/etc";
constexpr std::array<std::string_view, 6> account_files = {"passwd", "shadow", "group", "gshadow", "subuid", "subgid"};
// Lists the units that Ignition enabled. It would enable them again, whatever a later config says.
constexpr const char* ignition_preset = "/etc/systemd/system-preset/20-ignition.preset";

std::string original_of(const std::string& path) { return folder + "/orig" + path + ".mcdorig"; }
std::string no_original_of(const std::string& path) { return folder + "/noorig" + path + ".mcdnoorig"; }
// A leading dot: programs that watch a folder ignore such files.
std::string temporary_path(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".mcdnew";
}
// Whether an entry is a temporary file of this program, or of Files::write, which writes ".NAME.XXXXXX".
bool is_leftover(std::string_view entry, const std::string& name) {
  const std::string own = "." + name + ".mcdnew";
  const auto is_of_write = [&](const std::string& written) {
    return entry.size() == written.size() + 8 && entry.starts_with("." + written + ".");
  };
  return entry == own || is_of_write(name) || is_of_write(own);
}
// The process that made the entry, if it is a lock of the programs for accounts before it has its final name: "passwd.PID". A program
// that is killed leaves it. Its other files are written over or taken over by the next program.
std::string maker_of_account_lock(std::string_view entry) {
  const std::size_t dot = std::min(entry.find('.'), entry.size());
  const std::string_view maker = entry.substr(std::min(dot + 1, entry.size()));
  const bool is_of_accounts = std::ranges::find(account_files, entry.substr(0, dot)) != account_files.end();
  return is_of_accounts && std::ranges::all_of(maker, [](char c) { return '0' <= c && c <= '9'; }) ? std::string(maker) : "";
}
std::string parent_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

bool is_in_config(const ignition::Resource& resource) { return !resource.source || resource.source->starts_with("data:"); }

std::set<std::string> paths_of(const std::vector<const MachineConfig*>& configs) {
  std::set<std::string> paths;
  for (const MachineConfig* config : configs) {
    for (WantedFile& file : machineconfig::wanted_files(*config)) paths.insert(std::move(file.path));
  }
  return paths;
}

// Paths of `before` that `wanted` does not have.
std::set<std::string> stale_paths(const std::vector<const MachineConfig*>& before, const MachineConfig& wanted) {
  std::set<std::string> paths = paths_of(before);
  for (const std::string& path : paths_of({&wanted})) paths.erase(path);
  return paths;
}

std::string owner_text(const ignition::Owner& owner) { return owner.id ? fmt::format("{}", *owner.id) : owner.name.value_or(""); }

const ignition::Unit* find_unit(const MachineConfig& config, const std::string& name) {
  const auto& units = config.config.systemd.units;
  const auto unit = std::ranges::find(units, name, &ignition::Unit::name);
  return unit == units.end() ? nullptr : &*unit;
}

}  // namespace

ConfigDisk::ConfigDisk(const Environment& environment, std::string deployment)
    : environment_(environment), deployment_(std::move(deployment)) {}

std::string ConfigDisk::place_of(const std::string& path) const {
  const bool is_own = path.starts_with("/etc/") || path.starts_with("/usr/etc/");
  return is_own ? deployment_ + path : path;
}

Result<std::optional<MachineConfig>> ConfigDisk::read_config(const std::string& path) {
  const std::optional<std::string> text = TRY(environment_.files.read_if_exists(place_of(path)));
  if (!text) return std::optional<MachineConfig>();
  const Json object = TRY(parse_json(*text, path));
  return std::optional(TRY(machineconfig::parse_machine_config(object, path)));
}

Result<> ConfigDisk::write_config(const std::string& path, const MachineConfig& config) {
  TRY(environment_.files.make_directories(place_of(folder), 0755));
  return environment_.files.write(place_of(path), emit_json(machineconfig::to_json(config), JsonStyle::compact), 0600);
}

Result<std::optional<MachineConfig>> ConfigDisk::current() { return read_config(current_file); }
Result<std::optional<MachineConfig>> ConfigDisk::next() { return read_config(next_file); }
Result<> ConfigDisk::set_current(const MachineConfig& config) { return write_config(current_file, config); }
Result<> ConfigDisk::set_next(const MachineConfig& config) { return write_config(next_file, config); }
Result<> ConfigDisk::forget_next() { return environment_.files.remove(place_of(next_file)); }
Result<> ConfigDisk::forget_after_update() { return environment_.files.remove(after_update_file); }

Result<std::optional<AfterUpdate>> ConfigDisk::after_update() {
  const std::optional<std::string> text = TRY(environment_.files.read_if_exists(after_update_file));
  if (!text) return std::optional<AfterUpdate>();
  const Json value = TRY(parse_json(*text, after_update_file));
  AfterUpdate after;
  after.config = TRY(require_string(value, {"config"}).context(after_update_file));
  after.actions = TRY(machineconfig::parse_actions(value, after_update_file));
  return std::optional(std::move(after));
}

Result<bool> ConfigDisk::is_forced() { return TRY(environment_.files.info(force_file)).has_value(); }

Result<std::string> ConfigDisk::run(std::vector<std::string> argv, std::string input) {
  sys::Command command{.argv = std::move(argv), .input = std::move(input)};
  if (command.argv[0] == "systemctl" && deployment_.empty()) command.environment = {systemctl_environment};
  return sys::run_checked(environment_.runner, environment_.context, command);
}

Result<std::string> ConfigDisk::content_of(const ignition::Resource& resource) {
  if (!resource.source) return std::string();
  std::string bytes = TRY(ignition::decode_data_url(*resource.source));
  if (resource.compression.value_or("").empty()) return bytes;
  return run({"gzip", "--decompress", "--stdout"}, std::move(bytes));
}

Result<std::optional<std::string>> ConfigDisk::find_fault(const WantedFile& file) {
  using Fault = std::optional<std::string>;
  const std::string place = place_of(file.path);
  const std::optional<sys::FileInfo> info = TRY(environment_.files.info(place));
  if (!info) return Fault(file.path + " is missing");
  if (info->kind == sys::FileKind::directory) return Fault(file.path + " is a folder");
  if (file.is_mask) {
    if (TRY(environment_.files.read(place)).empty()) return Fault();
    return Fault(file.path + " is not a link to /dev/null");
  }
  if (info->kind != sys::FileKind::file) return Fault(file.path + " is not a regular file");
  if (info->mode != file.mode)
    return Fault(fmt::format("{} has mode {:04o} instead of {:04o}", file.path, info->mode, file.mode));
  const std::string content = TRY(content_of(file.contents).context(file.path));
  if (TRY(environment_.files.read(place)) != content) return Fault(file.path + " has other content");
  return Fault();
}

Result<std::optional<std::string>> ConfigDisk::find_drift(const Configs& configs) {
  std::vector<std::map<std::string, WantedFile>> others;
  for (std::size_t i = 1; i < configs.size(); ++i) {
    std::map<std::string, WantedFile>& files = others.emplace_back();
    for (WantedFile& file : machineconfig::wanted_files(*configs[i])) files.insert_or_assign(file.path, file);
  }
  std::vector<std::string> faults;
  for (const WantedFile& file : machineconfig::wanted_files(*configs.at(0))) {
    if (!is_in_config(file.contents)) continue;
    const std::optional<std::string> fault = TRY(find_fault(file));
    if (!fault) continue;
    bool is_well = false;
    for (const auto& files : others) {
      const auto other = files.find(file.path);
      // A path that this config does not have may already be restored to the file of the image.
      is_well = is_well || other == files.end() || !TRY(find_fault(other->second));
    }
    if (!is_well) faults.push_back(*fault);
  }
  if (faults.empty()) return std::optional<std::string>();
  return std::optional(fmt::format("different from {}: {}", configs[0]->name, join(faults, "; ")));
}

Result<> ConfigDisk::change(const MachineConfig& current, const std::optional<MachineConfig>& interrupted,
                            const MachineConfig& wanted, const machineconfig::Actions& actions) {
  Configs before{&current};
  if (interrupted) before.push_back(&*interrupted);
  // Changes of an interrupted earlier config are rolled back first, so that an interruption of this change cannot hide them.
  const bool is_other = machineconfig::state_of(wanted) != machineconfig::state_of(current);
  if (interrupted && machineconfig::state_of(*interrupted) != machineconfig::state_of(wanted) && is_other) {
    TRY(put_config(before, current).context("rolling back to " + current.name));
    TRY(forget_originals(before, current));
    before = {&current};
  }
  if (is_other) TRY(write_config(next_file, wanted));
  const auto change_it = [&]() -> Result<> {
    TRY(put_config(before, wanted));
    if (deployment_.empty()) {
      JsonObject after = machineconfig::to_json(actions).as_object();
      after["config"] = machineconfig::state_of(wanted).text();
      TRY(environment_.files.write(after_update_file, emit_json(after, JsonStyle::compact), 0600));
    }
    return write_config(current_file, wanted);
  };
  if (Result<> changed = change_it(); !changed.ok()) {
    if (changed.error().code() == Code::cancelled) return changed;
    before.push_back(&wanted);
    const Result<> back = put_back(before, current);
    if (back.ok()) return changed;
    return error(changed.error().code(), "{}; rolling back to {}: {}", changed.error().message(), current.name,
                 back.error().message());
  }
  TRY(forget_originals(before, wanted));
  return forget_next();
}

Result<> ConfigDisk::put_back(const Configs& before, const MachineConfig& current) {
  TRY(put_config(before, current));
  TRY(forget_originals(before, current));
  if (deployment_.empty()) TRY(forget_after_update());
  return forget_next();
}

Result<> ConfigDisk::go_back(const MachineConfig& current, const MachineConfig& interrupted) {
  return put_back({&current, &interrupted}, current);
}

Result<> ConfigDisk::put_config(const Configs& before, const MachineConfig& wanted) {
  const std::set<std::string> settled = paths_of({before.at(0)});
  TRY(environment_.files.remove(place_of(ignition_preset)));
  if (before.size() > 1) TRY(remove_leftovers(before));
  TRY(disable_stale_units(before, wanted));
  for (const WantedFile& file : machineconfig::wanted_files(wanted)) TRY(put_file(file, settled.contains(file.path)));
  for (const std::string& path : stale_paths(before, wanted)) TRY(restore(path, settled.contains(path)));
  TRY(enable_units(before, wanted));
  for (const MachineConfig* config : before) {
    const machineconfig::CoreAccess had = machineconfig::core_access(*config), wants = machineconfig::core_access(wanted);
    if (had != wants) TRY(put_core_access(had, wants));
  }
  return Ok{};
}

// Removes temporary files of writes and programs that were killed before their last step.
Result<> ConfigDisk::remove_leftovers(const Configs& before) {
  std::set<std::string> paths = paths_of(before);
  paths.insert({current_file, next_file, core_keys});
  std::map<std::string, std::vector<std::string>> names;  // by folder
  for (const std::string& path : paths) names[parent_of(place_of(path))].push_back(path.substr(path.rfind('/') + 1));
  for (const auto& [place, expected] : names) {
    if (!TRY(environment_.files.info(place))) continue;
    for (const std::string& entry : TRY(environment_.files.list(place))) {
      if (std::ranges::any_of(expected, [&](const std::string& name) { return is_leftover(entry, name); })) {
        TRY(environment_.files.remove(place + "/" + entry));
      }
    }
  }
  const std::string accounts = deployment_ + accounts_folder;
  for (const std::string& entry : TRY(environment_.files.list(accounts))) {
    const std::string maker = maker_of_account_lock(entry);
    if (!maker.empty() && !TRY(environment_.files.info("/proc/" + maker))) TRY(environment_.files.remove(accounts + "/" + entry));
  }
  return Ok{};
}

Result<> ConfigDisk::put_file(const WantedFile& file, bool is_settled) {
  // Ignition fetched it at the first boot.
  if (is_settled && !is_in_config(file.contents)) return Ok{};
  if (!is_settled) TRY(save_original(file.path));
  const bool has_owner = !owner_text(file.user).empty() || !owner_text(file.group).empty();
  if (!has_owner && !TRY(find_fault(file))) return Ok{};
  const std::string place = place_of(file.path), temporary = temporary_path(place);
  // Mode 0755 as in Ignition, also for secrets: the folder may contain other files.
  TRY(environment_.files.make_directories(parent_of(place), 0755));
  if (file.is_mask) {
    TRY(run({"ln", "-sfn", "/dev/null", temporary}));
    return environment_.files.rename(temporary, place);
  }
  const std::string content = TRY(content_of(file.contents).context(file.path));
  if (!has_owner) return environment_.files.write(place, content, file.mode);
  TRY(environment_.files.write(temporary, content, file.mode));
  TRY(run({"chown", "--no-dereference", owner_text(file.user) + ":" + owner_text(file.group), temporary}));
  return environment_.files.rename(temporary, place);
}

Result<> ConfigDisk::save_original(const std::string& path) {
  const std::string place = place_of(path), original = place_of(original_of(path)), none = place_of(no_original_of(path));
  if (TRY(environment_.files.info(original)) || TRY(environment_.files.info(none))) return Ok{};
  if (!TRY(environment_.files.info(place))) {
    TRY(environment_.files.make_directories(parent_of(none), 0755));
    return environment_.files.write(none, "", 0644);
  }
  TRY(environment_.files.make_directories(parent_of(original), 0755));
  TRY(run({"cp", "-aT", "--remove-destination", place, temporary_path(original)}));
  return environment_.files.rename(temporary_path(original), original);
}

Result<> ConfigDisk::restore(const std::string& path, bool is_settled) {
  std::optional<std::string> from;
  const std::string place = place_of(path), original = place_of(original_of(path)), image = place_of("/usr" + path);
  const bool has_none = TRY(environment_.files.info(place_of(no_original_of(path)))).has_value();
  if (TRY(environment_.files.info(original))) {
    from = original;
  } else if (!has_none && !is_settled) {
    return Ok{};  // an interrupted update did not reach this path
  } else if (!has_none && path.starts_with("/etc/") && TRY(environment_.files.info(image))) {
    // Ignition wrote the first config without saving the files that it replaced. For /etc the image has a copy in /usr/etc.
    from = image;
  }
  if (!from) return environment_.files.remove(place);
  TRY(run({"cp", "-aT", "--remove-destination", *from, temporary_path(place)}));
  return environment_.files.rename(temporary_path(place), place);
}

Result<> ConfigDisk::forget_originals(const Configs& before, const MachineConfig& wanted) {
  for (const std::string& path : stale_paths(before, wanted)) {
    TRY(environment_.files.remove(temporary_path(place_of(original_of(path)))));  // of a write that was killed
    TRY(environment_.files.remove(place_of(original_of(path))));
    TRY(environment_.files.remove(place_of(no_original_of(path))));
  }
  return Ok{};
}

// Removes the links of units that the config no longer has, while systemctl still finds their files. Units of the image get their
// preset state.
Result<> ConfigDisk::disable_stale_units(const Configs& before, const MachineConfig& wanted) {
  for (const MachineConfig* config : before) {
    for (const ignition::Unit& unit : config->config.systemd.units) {
      if (find_unit(wanted, unit.name) || !unit.enabled.value_or(false)) continue;
      const bool is_own = !unit.contents.value_or("").empty();
      if (is_own && !TRY(environment_.files.info(place_of("/etc/systemd/system/" + unit.name)))) continue;  // already done
      TRY(change_units(is_own ? "disable" : "preset", {unit.name}));
    }
  }
  return Ok{};
}

Result<> ConfigDisk::change_units(const std::string& verb, const std::vector<std::string>& units) {
  std::vector<std::string> argv = {"systemctl", "--no-reload", verb};
  if (!deployment_.empty()) argv.insert(argv.begin() + 1, "--root=" + deployment_);
  argv.insert(argv.end(), units.begin(), units.end());
  TRY(run(std::move(argv)));
  return Ok{};
}

Result<> ConfigDisk::enable_units(const Configs& before, const MachineConfig& wanted) {
  std::map<std::string, std::vector<std::string>> names;  // by verb
  for (const ignition::Unit& unit : wanted.config.systemd.units) {
    bool differs = false, was_set = false;
    for (const MachineConfig* config : before) {
      const ignition::Unit* other = find_unit(*config, unit.name);
      differs = differs || !other || *other != unit;
      was_set = was_set || (other && other->enabled);
    }
    if (!differs || unit.mask.value_or(false)) continue;
    if (unit.enabled) {
      // reenable: the unit may be enabled with the links of an older [Install] section.
      names[*unit.enabled ? "reenable" : "disable"].push_back(unit.name);
    } else if (was_set) {
      names["preset"].push_back(unit.name);
    }
  }
  for (const auto& [verb, units] : names) TRY(change_units(verb, units));
  return Ok{};
}

// For programs of accounts, whose files are in /etc.
std::vector<std::string> ConfigDisk::in_deployment(std::vector<std::string> argv) const {
  if (!deployment_.empty()) argv.insert(argv.begin() + 1, {"--root", deployment_});
  return argv;
}

Result<> ConfigDisk::put_core_access(const machineconfig::CoreAccess& before, const machineconfig::CoreAccess& wanted) {
  if (before.keys != wanted.keys) {
    TRY(run({"install", "-d", "-m", "0700", "-o", "core", "-g", "core", core_home, parent_of(core_keys)}));
    TRY(environment_.files.write(temporary_path(core_keys), wanted.keys, 0600));
    TRY(run({"chown", "--no-dereference", "core:core", temporary_path(core_keys)}));
    TRY(environment_.files.rename(temporary_path(core_keys), core_keys));
  }
  if (before.password_hash == wanted.password_hash) return Ok{};
  if (wanted.password_hash.empty()) {
    TRY(run(in_deployment({"usermod", "--lock", "core"})));
  } else {
    TRY(run(in_deployment({"chpasswd", "--encrypted"}), "core:" + wanted.password_hash + "\n"));
  }
  return Ok{};
}

Result<> ConfigDisk::keep_kubelet_ca(const std::string& pem) {
  if (pem.empty() || TRY(environment_.files.read_if_exists(kubelet_ca_file)) == pem) return Ok{};
  return environment_.files.write(kubelet_ca_file, pem, 0644);
}

}  // namespace slipway::node
