// Rules about systemd units.
#include "ignition/fields.h"
#include "ignition/unit_text.h"
#include "ignition/validate_rules.h"

#include <array>
#include <map>

namespace slipway::ignition {

namespace {

std::string suffix_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : std::string(name.substr(dot));
}

}  // namespace

void check(const Systemd& systemd, const std::string& path, Report& report) {
  // [Install] of the template applies to an instance.
  std::map<std::string, const Unit*> units;
  for (const Unit& unit : systemd.units) units.emplace(unit.name, &unit);
  for (std::size_t i = 0; i < systemd.units.size(); ++i) {
    const Unit& unit = systemd.units[i];
    const std::size_t at = unit.name.find('@');
    if (!is_set(unit.enabled) || at == 0 || at == std::string::npos || !unit.name.ends_with(".service")) continue;
    if (at + 1 == unit.name.size() - std::string_view(".service").size()) continue;
    const auto found = units.find(unit.name.substr(0, at) + "@.service");
    if (found == units.end() || is_empty(found->second->contents)) continue;
    const auto text = read_unit_text(*found->second->contents);
    if (!text.ok() || text->has_install) continue;
    report.warning(item_path(member_path(path, "units"), i), "contents", "enabled has no effect: {} has no option in [Install]",
                   found->first);
  }
}

void check(const Unit& unit, const std::string& path, Report& report) {
  static constexpr std::array<std::string_view, 12> suffixes = {".service",   ".socket",   ".device", ".mount",
                                                                ".automount", ".swap",     ".target", ".path",
                                                                ".timer",     ".snapshot", ".slice",  ".scope"};
  if (check_file_name(path, unit.name, report) && !is_one_of(suffix_of(unit.name), suffixes)) {
    report.error(path, "name", "'{}' does not have the ending of a unit", unit.name).hint("for example NAME.service");
  }
  if (is_empty(unit.contents)) return;
  const auto text = read_unit_text(*unit.contents);
  if (!text.ok()) {
    report.error(path, "contents", "not a unit file: {}", text.error().message());
  } else if (is_set(unit.enabled) && !text->has_install) {
    report.warning(path, "contents", "enabled has no effect without an option in [Install]");
  }
}

void check(const Dropin& dropin, const std::string& path, Report& report) {
  if (check_file_name(path, dropin.name, report) && suffix_of(dropin.name) != ".conf") {
    report.error(path, "name", "'{}' must end in .conf", dropin.name);
  }
  if (!dropin.contents) return;
  if (const auto text = read_unit_text(*dropin.contents); !text.ok()) {
    report.error(path, "contents", "not a unit file: {}", text.error().message());
  }
}

}  // namespace slipway::ignition
