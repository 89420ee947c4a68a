#include "ignition/make.h"

#include "ignition/data_url.h"
#include "ignition/fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::ignition {

namespace {

template <class T>
T& put_into(std::vector<T>& list, T item) {
  const auto same = std::ranges::find_if(list, [&](const T& other) { return key_of(other) == key_of(item); });
  if (same == list.end()) return list.emplace_back(std::move(item));
  return *same = std::move(item);
}

}  // namespace

File make_file(std::string path, std::string_view content, int mode) {
  return {.path = std::move(path), .overwrite = true, .mode = mode, .contents = {.source = encode_data_url(content)}};
}

Link make_link(std::string path, std::string target) {
  return {.path = std::move(path), .overwrite = true, .target = std::move(target)};
}

Unit make_unit(std::string name, std::string contents, bool enabled) {
  return {.name = std::move(name), .enabled = enabled, .contents = std::move(contents)};
}

Dropin make_dropin(std::string_view stem, std::string contents) {
  return {.name = std::string(stem) + ".conf", .contents = std::move(contents)};
}

std::string manager_variable(std::string_view name, std::string_view value) {
  std::string escaped;  // a single % is a specifier for systemd
  for (const char c : value) escaped += c == '%' ? "%%" : std::string(1, c);
  return fmt::format("DefaultEnvironment={}=\"{}\"\n", name, escaped);
}

void put(Config& config, File file) { put_into(config.storage.files, std::move(file)); }
void put(Config& config, Link link) { put_into(config.storage.links, std::move(link)); }
void put(Config& config, Unit unit) { put_into(config.systemd.units, std::move(unit)); }

void put_dropin(Config& config, std::string_view unit, std::string_view stem, std::string contents) {
  auto& units = config.systemd.units;
  auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) found = units.insert(found, Unit{.name = std::string(unit)});
  put_into(found->dropins, make_dropin(stem, std::move(contents)));
}

Resource make_reference(std::string url) { return {.source = std::move(url)}; }

}  // namespace slipway::ignition
