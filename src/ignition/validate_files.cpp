// Rules about files, directories and links, and about filesystems on disks.
#include "ignition/fields.h"
#include "ignition/validate_rules.h"

#include <map>
#include <set>

namespace slipway::ignition {

namespace {

void check_mode(const std::string& path, const Number& mode, Report& report) {
  if (mode && (*mode < 0 || *mode > 07777)) {
    report.error(path, "mode", "must be 0 to 4095, got {}", *mode).hint("use decimal numbers: 0644 is 420");
  }
}

// Reports a node that is below a link of this config: Ignition does not follow links.
void check_below_links(const std::string& path, const std::string& node, const std::set<std::string>& links, Report& report) {
  for (std::size_t end = node.find('/', 1); end != std::string::npos; end = node.find('/', end + 1)) {
    const std::string parent = node.substr(0, end);
    if (links.contains(parent)) report.error(path, "path", "'{}' is below the link '{}' of this config", node, parent);
  }
}

void check_hard_links(const Storage& storage, const std::string& path, Report& report) {
  std::set<std::string> directories;
  for (const Directory& directory : storage.directories) directories.insert(directory.path);
  for (std::size_t i = 0; i < storage.links.size(); ++i) {
    const Link& link = storage.links[i];
    if (!is_set(link.hard) || is_empty(link.target)) continue;
    const std::string here = item_path(member_path(path, "links"), i);
    const bool absolute = link.target->starts_with('/');
    if (directories.contains(cleaned(absolute ? *link.target : link.path + "/" + *link.target))) {
      report.error(here, "target", "a hard link to a directory is not possible");
    }
    if (link.user != Owner{}) report.warning(here, "user", "has no effect on a hard link");
    if (link.group != Owner{}) report.warning(here, "group", "has no effect on a hard link");
  }
}

}  // namespace

void check(const Storage& storage, const std::string& path, Report& report) {
  std::set<std::string> links;
  for (const Link& link : storage.links) links.insert(link.path);
  for_each_field<Storage>([&](const auto& field) {
    const auto& nodes = storage.*field.member;
    if constexpr (requires { nodes.front().overwrite; }) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        check_below_links(item_path(member_path(path, field.name), i), nodes[i].path, links, report);
      }
    }
  });
  check_hard_links(storage, path, report);
  std::map<std::string, const Disk*> disks;
  for (const Disk& disk : storage.disks) disks.emplace(disk.device, &disk);
  for (std::size_t i = 0; i < storage.filesystems.size(); ++i) {
    const auto disk = disks.find(storage.filesystems[i].device);
    if (disk == disks.end()) continue;
    const std::string here = item_path(member_path(path, "filesystems"), i);
    if (!disk->second->partitions.empty()) {
      report.warning(here, "device", "the filesystem overwrites the partitions of '{}'", disk->first);
    } else if (is_set(disk->second->wipe_table) && !is_set(storage.filesystems[i].wipe_filesystem)) {
      report.warning(here, "device", "wipeTable of '{}' wipes the filesystem too", disk->first);
    }
  }
}

void check(const File& file, const std::string& path, Report& report) {
  check_path(path, "path", file.path, report);
  check_mode(path, file.mode, report);
  if (is_set(file.overwrite) && !file.contents.source) {
    report.error(path, "overwrite", "requires contents.source").hint("\"data:,\" is the empty file");
  }
}

void check(const Directory& directory, const std::string& path, Report& report) {
  check_path(path, "path", directory.path, report);
  check_mode(path, directory.mode, report);
}

void check(const Link& link, const std::string& path, Report& report) {
  check_path(path, "path", link.path, report);
  if (is_empty(link.target)) report.error(path, "target", "missing, required for a link");
}

void check(const Owner& owner, const std::string& path, Report& report) {
  if (owner.id && !is_empty(owner.name)) report.error(path, "", "has both an ID and a name").hint("keep one of them");
}

}  // namespace slipway::ignition
