#include "diagnosis/bundle.h"

#include "base/text.h"
#include "sys/event_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace slipway::diagnosis {

namespace {

constexpr std::string_view control_plane = "control-plane/";

std::string folder_of(std::string_view machine) {
  return machine == "bootstrap" ? "bootstrap/" : fmt::format("{}{}/", control_plane, machine);
}

// The documents of a file of JSON lines. Broken lines are skipped: a process that was killed leaves one.
std::vector<Json> json_lines(std::string_view text, std::string_view path) {
  std::vector<Json> found;
  for (const std::string_view line : split(text, '\n')) {
    Result<Json> value = parse_json(line, path);
    if (value.ok()) found.push_back(std::move(value).value());
  }
  return found;
}

}  // namespace

void Bundle::add(std::string path, std::string content) { files_.insert_or_assign(std::move(path), std::move(content)); }

const std::string* Bundle::find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> Bundle::paths(std::string_view prefix, std::string_view suffix) const {
  std::vector<std::string_view> found;
  for (auto file = files_.lower_bound(prefix); file != files_.end() && file->first.starts_with(prefix); ++file) {
    if (file->first.ends_with(suffix)) found.push_back(file->first);
  }
  return found;
}

std::vector<Quote> Bundle::lines_with(std::string_view path, std::string_view text) const {
  std::vector<Quote> found;
  const std::string* content = find(path);
  if (!content) return found;
  int line = 1;
  std::size_t counted = 0;
  for (std::size_t at = content->find(text); at != std::string::npos; at = content->find(text, at)) {
    const std::size_t newline = content->rfind('\n', at);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    const std::size_t end = std::min(content->find('\n', at), content->size());
    line += static_cast<int>(std::count(content->begin() + static_cast<std::ptrdiff_t>(counted),
                                        content->begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    counted = begin;
    found.push_back({std::string(path), line, content->substr(begin, end - begin)});
    at = end;
  }
  return found;
}

std::vector<Quote> Bundle::log_lines_with(const Machine& machine, std::string_view text) const {
  std::vector<Quote> found;
  for (const std::string_view folder : {"journals/", "containers/", "unit-status/"}) {
    for (const std::string_view path : paths(machine.folder + std::string(folder), ".log")) {
      std::ranges::move(lines_with(path, text), std::back_inserter(found));
    }
  }
  return found;
}

std::vector<Machine> Bundle::machines() const {
  std::vector<Machine> machines;
  if (const std::string* table = find("host/machines.jsonl")) {
    for (const Json& row : json_lines(*table, "host/machines.jsonl")) {
      const std::string name = text_of(row, {"name"});
      machines.push_back({name, folder_of(name), text_of(row, {"state"}), text_of(row, {"reason"}), text_of(row, {"address"})});
    }
    return machines;
  }
  std::set<std::string> names;
  if (!paths("bootstrap/", "").empty()) names.insert("bootstrap");
  for (std::string_view path : paths(control_plane, "")) {
    path.remove_prefix(control_plane.size());
    names.emplace(path.substr(0, path.find('/')));
  }
  for (const std::string& name : names) machines.push_back({.name = name, .folder = folder_of(name)});
  return machines;
}

std::optional<Probe> Bundle::probe(const Machine& machine) const {
  const std::string path = fmt::format("host/{}.probe.txt", machine.name);
  const std::string* text = find(path);
  if (!text) return std::nullopt;
  return parse_probe(*text, path);
}

Expected Bundle::expected() const {
  Expected expected;
  const std::string* text = find("host/expected.json");
  const Result<Json> document = parse_json(text ? *text : "{}", "host/expected.json");
  if (!document.ok()) return expected;
  expected.domain = text_of(document.value(), {"domain"});
  for (const Json& address : find_array(document.value(), {"apiAddresses"})) {
    if (address.is_string()) expected.api_addresses.emplace_back(address.get_string());
  }
  return expected;
}

std::vector<Json> Bundle::objects(std::string_view kind) const {
  std::vector<Json> found;
  const std::string path = fmt::format("resources/{}.json", kind);
  const std::string* text = find(path);
  if (!text) return found;
  const Result<Json> list = parse_json(*text, path);
  if (!list.ok()) return found;
  for (const Json& item : find_array(list.value(), {"items"})) found.push_back(item);
  return found;
}

std::vector<sys::Event> Bundle::bootstrap_events() const {
  const std::string* lines = find("bootstrap/services/events.jsonl");
  return lines ? sys::parse_events(*lines) : std::vector<sys::Event>();
}

}  // namespace slipway::diagnosis
