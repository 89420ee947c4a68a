// Rules about disks, partitions, arrays, filesystems and encrypted devices.
#include "base/json.h"
#include "ignition/fields.h"
#include "ignition/source.h"
#include "ignition/validate_rules.h"

#include <array>
#include <map>

namespace slipway::ignition {

namespace {

// Whether both partitions have a start and a size, and overlap. A partition of size 0 takes the rest of the disk; its end is not
// known, so only its start counts.
bool overlap(const Partition& a, const Partition& b) {
  if (!a.start_mib || !a.size_mib || !b.start_mib || !b.size_mib || *a.start_mib == 0 || *b.start_mib == 0) return false;
  const auto last = [](const Partition& p) {
    std::int64_t end = 0;
    const bool beyond = *p.size_mib <= 0 || __builtin_add_overflow(*p.start_mib, *p.size_mib - 1, &end);
    return beyond ? *p.start_mib : end;
  };
  return *a.start_mib <= last(b) && *b.start_mib <= last(a);
}

void check_guid(const std::string& path, std::string_view key, const Text& guid, Report& report) {
  if (is_empty(guid)) return;
  static constexpr std::string_view form = "01234567-89AB-CDEF-EDCB-A98765432101";
  bool fits = guid->size() == form.size();
  for (std::size_t i = 0; fits && i < form.size(); ++i) {
    const char c = (*guid)[i];
    fits = form[i] == '-' ? c == '-' : std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
  }
  if (!fits) report.error(path, key, "'{}' must have the form {}", *guid, form);
}

}  // namespace

void check(const Disk& disk, const std::string& path, Report& report) {
  check_path(path, "device", disk.device, report);
  std::map<std::string, std::size_t> labels;
  bool has_next_number = false;
  bool has_unwanted = false;
  for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
    const Partition& partition = disk.partitions[i];
    const std::string here = item_path(member_path(path, "partitions"), i);
    has_next_number |= partition.number.value_or(0) == 0;
    has_unwanted |= partition.should_exist == false;
    if (partition.label) {
      // Two partitions without a number are already reported as duplicates.
      const auto [first, added] = labels.emplace(*partition.label, i);
      if (!added && key_of(disk.partitions[first->second]) != key_of(partition)) {
        report.error(here, "label", "duplicate label '{}'", *partition.label);
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (overlap(partition, disk.partitions[k])) report.error(here, "", "overlaps with partitions[{}]", k);
    }
  }
  if (has_next_number && has_unwanted) {
    report.error(path, "partitions", "partitions without a number cannot be used with partitions that should not exist");
  }
}

void check(const Partition& partition, const std::string& path, Report& report) {
  if (partition.should_exist == false && (partition.label || !is_empty(partition.type_guid) || !is_empty(partition.guid) ||
                                          partition.start_mib || partition.size_mib)) {
    report.error(path, "shouldExist", "a partition that should not exist must have only a number");
  }
  if (partition.number.value_or(0) == 0 && !partition.label) report.error(path, "", "a number from 1, or a label, is required");
  if (partition.label && partition.label->size() > 36) report.error(path, "label", "has more than 36 characters");
  if (partition.label && partition.label->find(':') != std::string::npos) report.error(path, "label", "must not have a colon");
  check_guid(path, "guid", partition.guid, report);
  check_guid(path, "typeGuid", partition.type_guid, report);
}

void check(const Raid& raid, const std::string& path, Report& report) {
  static constexpr std::array<std::string_view, 4> spareless = {"linear", "raid0", "0", "stripe"};
  static constexpr std::array<std::string_view, 11> others = {"raid1", "1",     "mirror", "raid4",  "4", "raid5",
                                                              "5",     "raid6", "6",      "raid10", "10"};
  check_name(path, raid.name, report);
  if (is_empty(raid.level)) {
    report.error(path, "level", "missing, required for an array").hint("for example raid1");
  } else if (is_one_of(*raid.level, spareless)) {
    if (raid.spares.value_or(0) != 0) report.error(path, "spares", "{} does not support spares", *raid.level);
  } else if (!is_one_of(*raid.level, others)) {
    report.error(path, "level", "unknown value '{}'", *raid.level).hint("linear, raid0, raid1, raid4, raid5, raid6 or raid10");
  }
  if (raid.devices.empty()) report.error(path, "devices", "missing, required for an array");
  for (std::size_t i = 0; i < raid.devices.size(); ++i) {
    check_path(item_path(member_path(path, "devices"), i), "", raid.devices[i], report);
  }
}

void check(const Filesystem& filesystem, const std::string& path, Report& report) {
  static constexpr std::array<std::string_view, 6> formats = {"ext4", "btrfs", "xfs", "swap", "vfat", "none"};
  static const std::map<std::string_view, std::size_t> longest_label = {
      {"ext4", 16}, {"btrfs", 256}, {"xfs", 12}, {"swap", 15}, {"vfat", 11}};
  check_path(path, "device", filesystem.device, report);
  if (!is_empty(filesystem.path)) check_path(path, "path", *filesystem.path, report);
  if (is_empty(filesystem.format)) {
    if (!is_empty(filesystem.path) || !is_empty(filesystem.label) || !is_empty(filesystem.uuid) ||
        is_set(filesystem.wipe_filesystem) || !filesystem.options.empty() || !filesystem.mount_options.empty()) {
      report.error(path, "format", "missing, required by the other fields");
    }
    return;
  }
  if (!is_one_of(*filesystem.format, formats)) {
    report.error(path, "format", "unknown value '{}'", *filesystem.format).hint("ext4, btrfs, xfs, swap, vfat or none");
  }
  const auto limit = longest_label.find(*filesystem.format);
  if (filesystem.label && limit != longest_label.end() && filesystem.label->size() > limit->second) {
    report.error(path, "label", "a label of {} has at most {} bytes", *filesystem.format, limit->second);
  }
}

void check(const Luks& luks, const std::string& path, Report& report) {
  check_name(path, luks.name, report);
  check_file_name(path, luks.name, report);
  check_path(path, "device", luks.device.value_or(""), report);
  if (luks.label && luks.label->size() > 47) report.error(path, "label", "has more than 47 bytes");
  const Clevis& clevis = luks.clevis;
  const bool has_others = !clevis.tang.empty() || is_set(clevis.tpm2) || clevis.threshold.value_or(0) != 0;
  if (!is_empty(clevis.custom.pin) && has_others) {
    report.error(member_path(path, "clevis"), "custom", "cannot be used with tang, tpm2 or threshold");
  }
  if (!is_set(luks.cex.enabled)) return;
  if (!is_empty(clevis.custom.pin) || has_others) report.error(path, "cex", "cannot be used with clevis");
  if (!is_empty(luks.key_file.source)) report.error(path, "cex", "cannot be used with keyFile");
}

void check(const ClevisCustom& custom, const std::string& path, Report& report) {
  static constexpr std::array<std::string_view, 3> pins = {"tpm2", "tang", "sss"};
  if (is_empty(custom.pin) && is_empty(custom.config) && !is_set(custom.needs_network)) return;
  if (is_empty(custom.pin)) {
    report.error(path, "pin", "missing").hint("tpm2, tang or sss");
  } else if (!is_one_of(*custom.pin, pins)) {
    report.error(path, "pin", "unknown value '{}'", *custom.pin).hint("tpm2, tang or sss");
  }
  if (is_empty(custom.config)) report.error(path, "config", "missing, required for a custom pin");
}

void check(const Tang& tang, const std::string& path, Report& report) {
  const std::string scheme = scheme_of(tang.url);
  if (scheme != "http" && scheme != "https") {
    report.error(path, "url", "the URL of a Tang server must begin with http:// or https://");
  } else if (const auto checked = check_server_url(tang.url); !checked.ok()) {
    report.error(path, "url", "not a URL of a Tang server: {}", checked.error().message());
  }
  if (is_empty(tang.thumbprint)) report.error(path, "thumbprint", "missing, required for a Tang server");
  if (!is_empty(tang.advertisement)) {
    if (const auto json = parse_json(*tang.advertisement, "advertisement"); !json.ok()) {
      report.error(path, "advertisement", "is not JSON: {}", json.error().message());
    }
  }
}

}  // namespace slipway::ignition
