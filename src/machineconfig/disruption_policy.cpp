#include "machineconfig/disruption_policy.h"

#include "base/characters.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace slipway::machineconfig {

namespace {

using Type = DisruptionAction::Type;

struct TypeRow {
  std::string_view name;
  std::optional<Type> type;      // empty: nothing to do
  std::string_view target = "";  // field with the unit
  bool is_alone = false;
};
constexpr std::array type_rows = {TypeRow{"Reboot", Type::reboot, "", true},    TypeRow{"Drain", Type::drain},
                                  TypeRow{"Reload", Type::reload, "reload"},    TypeRow{"Restart", Type::restart, "restart"},
                                  TypeRow{"DaemonReload", Type::daemon_reload}, TypeRow{"None", std::nullopt, "", true}};

constexpr std::array unit_types = {".service", ".socket", ".device", ".mount",    ".automount", ".swap",
                                   ".target",  ".path",   ".timer",  ".snapshot", ".slice",     ".scope"};
constexpr std::string_view all_types = "Reboot, Drain, Reload, Restart, DaemonReload or None";
constexpr std::size_t most_entries = 50, most_actions = 10, longest_unit = 255;

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || folder.empty() || path[folder.size()] == '/');
}

// Names as the API server accepts them. systemctl would take one with a leading '-' for an option.
bool is_unit_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return is_letter_or_digit(c) || std::string_view(":-_.\\").find(c) != std::string_view::npos;
  };
  return name.size() <= longest_unit && !name.starts_with('-') && std::ranges::all_of(name, is_allowed) &&
         std::ranges::any_of(unit_types,
                             [&](std::string_view type) { return name.size() > type.size() && name.ends_with(type); });
}

// A folder may end with a slash.
std::string_view without_slash(std::string_view path) { return path.ends_with('/') ? path.substr(0, path.size() - 1) : path; }

bool is_path(std::string_view path) {
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  const std::vector<std::string_view> parts = split(without_slash(path).substr(1), '/');
  return std::ranges::none_of(parts, [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  // field: path of the value, "spec.nodeDisruptionPolicy"
  DisruptionPolicy read(const Json& value, const std::string& field, const DisruptionPolicy& base) {
    DisruptionPolicy policy = base;
    check_fields(value, field, {"files", "units", "sshkey"});
    read_list(value, field + ".files", "files", "path", policy.files, [&](const std::string& place, std::string_view path) {
      if (!is_path(path))
        findings_.error({}, place, "'{}' is not an absolute path", to_utf8(path))
            .hint("write it like /etc/example.conf, without . or ..");
      return without_slash(path);
    });
    read_list(value, field + ".units", "units", "name", policy.units, [&](const std::string& place, std::string_view name) {
      check_unit(place, name);
      return name;
    });
    if (const Json* key = find(value, {"sshkey"})) {
      check_fields(*key, field + ".sshkey", {"actions"});
      policy.core_access = read_actions(*key, field + ".sshkey");
    }
    return policy;
  }

 private:
  void check_fields(const Json& value, const std::string& field, std::initializer_list<std::string_view> known) {
    if (!value.is_object()) {
      findings_.error({}, field, "is not an object");
      return;
    }
    for (const auto& member : value.get_object()) {
      if (std::ranges::find(known, std::string_view(member.key())) == known.end())
        findings_.error({}, fmt::format("{}.{}", field, std::string_view(member.key())), "unknown field").hint("remove it");
    }
  }

  void check_unit(const std::string& field, std::string_view name) {
    if (is_unit_name(name)) return;
    findings_.error({}, field, "'{}' is not the name of a unit", to_utf8(name)).hint("write the whole name, like crio.service");
  }

  void read_list(const Json& value, const std::string& field, std::string_view list, std::string_view key,
                 std::map<std::string, DisruptionActions, std::less<>>& into,
                 const std::function<std::string_view(const std::string&, std::string_view)>& checked_key) {
    const JsonArray& entries = find_array(value, {list});
    std::vector<std::string_view> seen;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string place = fmt::format("{}[{}]", field, i), key_field = fmt::format("{}.{}", place, key);
      check_fields(entries[i], place, {key, "actions"});
      const std::string_view name = checked_key(key_field, find_string(entries[i], {key}).value_or(""));
      if (std::ranges::find(seen, name) != seen.end())
        findings_.error({}, key_field, "'{}' has another entry", to_utf8(name)).hint("merge the entries");
      seen.push_back(name);
      into.insert_or_assign(std::string(name), read_actions(entries[i], place));
    }
  }

  DisruptionActions read_actions(const Json& entry, const std::string& field) {
    DisruptionActions actions;
    const Json* list = find(entry, {"actions"});
    if (!list || !list->is_array()) {
      findings_.error({}, field + ".actions", "missing").hint(fmt::format("list {}", all_types));
      return actions;
    }
    const JsonArray& items = list->get_array();
    if (items.size() > most_actions)
      findings_.error({}, field + ".actions", "has {} actions, at most {} are allowed", items.size(), most_actions);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string place = fmt::format("{}.actions[{}]", field, i);
      const std::string_view name = find_string(items[i], {"type"}).value_or("");
      const auto row = std::ranges::find(type_rows, name, &TypeRow::name);
      if (row == type_rows.end()) {
        findings_.error({}, place + ".type", "'{}' is unknown", to_utf8(name)).hint(fmt::format("use {}", all_types));
        continue;
      }
      if (row->is_alone && items.size() > 1)
        findings_.error({}, place + ".type", "{} must be the only action", name).hint("remove the others");
      if (row->target.empty()) {
        check_fields(items[i], place, {"type"});
        if (row->type) actions.push_back({*row->type});
        continue;
      }
      check_fields(items[i], place, {"type", row->target});
      const std::string_view unit = find_string(items[i], {row->target, "serviceName"}).value_or("");
      check_unit(fmt::format("{}.{}.serviceName", place, row->target), unit);
      actions.push_back({*row->type, std::string(unit)});
    }
    return actions;
  }

  Findings& findings_;
};

Json to_json(const DisruptionActions& actions) {
  JsonArray list;
  if (actions.empty()) list.push_back(JsonObject{{"type", "None"}});
  for (const DisruptionAction& action : actions) {
    const auto row = std::ranges::find(type_rows, std::optional(action.type), &TypeRow::type);
    JsonObject item = {{"type", row->name}};
    if (!row->target.empty()) item[row->target] = JsonObject{{"serviceName", action.unit}};
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

const DisruptionActions* DisruptionPolicy::for_file(std::string_view path) const {
  const DisruptionActions* best = nullptr;
  std::size_t longest = 0;
  for (const auto& [folder, actions] : files) {
    if (!is_below(path, folder) || (best && folder.size() < longest)) continue;
    best = &actions;
    longest = folder.size();
  }
  return best;
}

const DisruptionActions* DisruptionPolicy::for_unit(std::string_view name) const {
  const auto found = units.find(name);
  return found == units.end() ? nullptr : &found->second;
}

const DisruptionPolicy& default_disruption_policy() {
  static const DisruptionPolicy policy = {
      .files = {{"/var/lib/kubelet/config.json", {}},
                {"/etc/containerd/certs.d", {}},
                // Logins of registries, and settings that containerd reads when it starts. Containers continue to run.
                {"/etc/containerd/conf.d/10-slipway.toml", {{Type::restart, "containerd.service"}}},
                {"/etc/kubernetes/kubelet-ca.crt", {}},
                {"/usr/local/share/ca-certificates",
                 {{Type::restart, "update-ca-certificates.service"}, {Type::restart, "containerd.service"}}}}};
  return policy;
}

PolicyInForce policy_in_force(const Json& machine_configuration) {
  const DisruptionPolicy& defaults = default_disruption_policy();
  const Json* wanted = find(machine_configuration, {"spec", "nodeDisruptionPolicy"});
  PolicyInForce found{.policy = defaults};
  if (!wanted || wanted->is_null()) return found;
  found.policy = Reader(found.findings).read(*wanted, "spec.nodeDisruptionPolicy", defaults);
  for (const char* list : {"files", "units"}) {
    const std::size_t count = find_array(*wanted, {list}).size();
    if (count > most_entries)
      found.findings.error({}, fmt::format("spec.nodeDisruptionPolicy.{}", list), "has {} entries, at most {} are allowed", count,
                           most_entries);
  }
  if (!found.findings.has_errors()) return found;
  Findings of_status;
  const Json* last = find(machine_configuration, {"status", "nodeDisruptionPolicyStatus", "clusterPolicies"});
  found.policy = last ? Reader(of_status).read(*last, "status", {}) : defaults;
  if (of_status.has_errors()) found.policy = defaults;
  return found;
}

Json to_json(const DisruptionPolicy& policy) {
  JsonArray files, units;
  for (const auto& [path, actions] : policy.files)
    files.push_back({{"path", path.empty() ? "/" : path}, {"actions", to_json(actions)}});
  for (const auto& [name, actions] : policy.units) units.push_back({{"name", name}, {"actions", to_json(actions)}});
  return {{"files", std::move(files)}, {"units", std::move(units)}, {"sshkey", {{"actions", to_json(policy.core_access)}}}};
}

}  // namespace slipway::machineconfig
