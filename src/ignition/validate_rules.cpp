#include "ignition/validate_rules.h"

#include "base/text.h"
#include "ignition/fields.h"

#include <map>

namespace slipway::ignition {

std::string Report::field_path(const std::string& path, std::string_view key) {
  return key.empty() ? path : member_path(path, key);
}

std::string cleaned(std::string_view path) {
  std::vector<std::string> steps;
  for (std::string_view step : split(path, '/')) {
    if (step.empty() || step == ".") continue;
    if (step != "..") {
      steps.emplace_back(step);
    } else if (!steps.empty()) {
      steps.pop_back();
    }
  }
  return "/" + join(steps, "/");
}

void check_path(const std::string& path, std::string_view key, const std::string& value, Report& report) {
  if (value.empty()) {
    report.error(path, key, "missing, must be an absolute path");
  } else if (value[0] != '/') {
    report.error(path, key, "'{}' is not an absolute path", value).hint(fmt::format("'{}'?", cleaned(value)));
  } else if (const std::string clean = cleaned(value); clean != value) {
    report.error(path, key, "'{}' is not in its shortest form", value).hint(fmt::format("use '{}'", clean));
  }
}

void check_name(const std::string& path, const std::string& name, Report& report) {
  if (name.empty()) report.error(path, "name", "missing, must be a name");
}

bool check_file_name(const std::string& path, const std::string& name, Report& report) {
  if (name.find('/') == std::string::npos) return true;
  report.error(path, "name", "'{}' contains a slash", name);
  return false;
}

void check(const Config& config, const std::string& path, Report& report) {
  std::map<std::string, std::string> units;
  for (const Unit& unit : config.systemd.units) {
    const std::string file = "/etc/systemd/system/" + unit.name;
    if (!is_empty(unit.contents)) units.emplace(file, unit.name);
    for (const Dropin& dropin : unit.dropins) {
      if (!is_empty(dropin.contents)) units.emplace(file + ".d/" + dropin.name, unit.name);
    }
  }
  const std::string storage = member_path(path, "storage");
  for_each_field<Storage>([&](const auto& field) {
    const auto& nodes = config.storage.*field.member;
    if constexpr (requires { nodes.front().overwrite; }) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto found = units.find(nodes[i].path);
        if (found == units.end()) continue;
        report.error(item_path(member_path(storage, field.name), i), "path", "'{}' is written by the unit {} of this config",
                     nodes[i].path, found->second);
      }
    }
  });
}

void check(const User& user, const std::string& path, Report& report) { check_name(path, user.name, report); }
void check(const Group& group, const std::string& path, Report& report) { check_name(path, group.name, report); }

}  // namespace slipway::ignition
