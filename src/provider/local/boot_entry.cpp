#include "provider/local/boot_entry.h"

#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace slipway::provider::local {

namespace {

bool contains_dotdot(std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

bool is_commit(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<BootEntry> parse_boot_entry(std::string_view text, std::string_view file) {
  BootEntry entry{.file = std::string(file)};
  bool has_version = false;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    const std::size_t end = line.find_first_of(" \t");
    if (line.starts_with('#') || end == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, end), value = trim(line.substr(end));
    if (key == "title") {
      entry.title = value;
    } else if (key == "version") {
      const std::optional<int> version = parse_number<int>(value);
      if (!version) return error(Code::invalid, "{}: version '{}' is not a number", file, value);
      entry.version = *version;
      has_version = true;
    } else if (key == "options") {
      for (std::string_view option : split(value, ' ')) {
        option = trim(option);
        if (option.empty()) continue;
        if (option.starts_with("ostree=")) entry.deployment = option.substr(option.find('=') + 1);
        entry.arguments.emplace_back(option);
      }
    }
  }
  if (!has_version) return error(Code::invalid, "{}: has no version", file);
  if (!entry.deployment.starts_with('/') || contains_dotdot(entry.deployment)) {
    return error(Code::invalid, "{}: needs ostree= with an absolute path in its options, has '{}'", file, entry.deployment);
  }
  return entry;
}

Result<BootEntry> choose(std::vector<BootEntry> entries, BootChoice choice) {
  if (entries.empty()) return error(Code::not_found, "the disk has no boot entry");
  std::sort(entries.begin(), entries.end(), [](const BootEntry& a, const BootEntry& b) { return a.version > b.version; });
  const std::size_t index = choice == BootChoice::newest ? 0 : 1;
  return std::move(entries[std::min(index, entries.size() - 1)]);
}

Result<Deployment> deployment_of_link(std::string_view link, std::string_view target) {
  const std::filesystem::path folder = std::filesystem::path(link).parent_path();
  Deployment deployment{.path = (folder / target).lexically_normal().string()};
  const std::vector<std::string_view> parts = split(deployment.path, '/');
  // "", ostree, deploy, OS, deploy, COMMIT.SERIAL
  const bool has_layout =
      parts.size() == 6 && parts[0].empty() && parts[1] == "ostree" && parts[2] == "deploy" && parts[4] == "deploy";
  const std::string_view name = parts.back();
  const std::size_t dot = name.rfind('.');
  const std::optional<int> serial = dot == std::string_view::npos ? std::nullopt : parse_number<int>(name.substr(dot + 1));
  if (!has_layout || !serial || !is_commit(name.substr(0, dot))) {
    return error(Code::invalid, "{}: points to {}, which is not a deployment", link, deployment.path);
  }
  deployment.commit = name.substr(0, dot);
  deployment.serial = *serial;
  return deployment;
}

}  // namespace slipway::provider::local
