#include "agent/disks.h"

#include "agent/medium.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace slipway::agent {

namespace {

using assist::Disk;

constexpr unsigned long long sector = 512;  // the unit of /sys/block/*/size, whatever the disk's own sectors are

// What udev recorded about a device: /run/udev/data/bMAJOR:MINOR has lines "S:disk/by-id/..." and "E:NAME=VALUE".
struct UdevRecord {
  std::set<std::string> links;
  std::vector<std::pair<std::string, std::string>> properties;

  std::string property(std::string_view name) const {
    for (const auto& [key, value] : properties) {
      if (key == name) return value;
    }
    return "";
  }

  // The first link below /dev/disk/KIND; for by-id the one with the World Wide Name, which no two disks share.
  std::string link(std::string_view kind) const {
    std::string first;
    for (const std::string& link : links) {
      if (!link.starts_with(fmt::format("disk/{}/", kind))) continue;
      if (link.find("/wwn-") != std::string::npos || link.find("/nvme-eui.") != std::string::npos) return "/dev/" + link;
      if (first.empty()) first = "/dev/" + link;
    }
    return first;
  }
};

UdevRecord read_udev(const SystemTree& tree, const std::string& device) {
  UdevRecord record;
  const std::string content = tree.text("/run/udev/data/b" + device);
  for (const std::string_view line : split(content, '\n')) {
    if (line.starts_with("S:")) record.links.emplace(line.substr(2));
    const std::size_t equals = line.find('=');
    if (line.starts_with("E:") && equals != std::string_view::npos) {
      record.properties.emplace_back(line.substr(2, equals - 2), line.substr(equals + 1));
    }
  }
  return record;
}

class Reader {
 public:
  explicit Reader(const SystemTree& tree) : tree_(tree), mounts_(parse_mounts(tree.bytes("/proc/self/mountinfo"))) {
    const std::string swaps = tree.bytes("/proc/swaps");
    for (const std::string_view line : split(swaps, '\n')) {
      const std::string_view device = line.substr(0, line.find_first_of(" \t"));
      if (device.starts_with("/dev/")) swaps_.emplace(device.substr(5));
    }
  }

  std::vector<Disk> read() const {
    std::vector<Disk> found;
    for (const std::string& name : tree_.names("/sys/block")) {
      if (!is_hidden(name)) found.push_back(read(name));
    }
    return found;
  }

 private:
  static std::string folder_of(const std::string& name) { return "/sys/block/" + name; }

  bool is_hidden(const std::string& name) const {
    for (const std::string_view prefix : {"loop", "zram", "ram", "mtdblock"}) {
      if (name.starts_with(prefix)) return true;
    }
    if (tree_.text(folder_of(name) + "/hidden") == "1") return true;
    if (is_mapped(name) && !starts_mapped(name, "mpath-") && !starts_mapped(name, "LVM-")) return true;
    const std::vector<std::string> holders = tree_.names(folder_of(name) + "/holders");
    const bool is_path = std::any_of(holders.begin(), holders.end(), [&](const auto& of) { return starts_mapped(of, "mpath-"); });
    return is_path || (tree_.number(folder_of(name) + "/size") == 0 && !name.starts_with("sr"));
  }

  bool is_mapped(const std::string& name) const { return tree_.has(folder_of(name) + "/dm"); }
  bool starts_mapped(const std::string& name, std::string_view prefix) const {
    return tree_.text(folder_of(name) + "/dm/uuid").starts_with(prefix);
  }

  std::vector<std::string> partitions(const std::string& name) const {
    std::vector<std::string> found;
    for (const std::string& each : tree_.names(folder_of(name))) {
      if (tree_.has(folder_of(name) + "/" + each + "/partition")) found.push_back(each);
    }
    return found;
  }

  // Uses of the device with this folder, and of the devices that are made of it: "sda2 is mounted on /var".
  void find_uses(const std::string& folder, const std::string& name, std::set<std::string>& seen,
                 std::vector<std::string>& uses) const {
    if (!seen.insert(name).second) return;
    const std::string device = tree_.text(folder + "/dev");
    const auto mount =
        std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& each) { return !device.empty() && each.device == device; });
    if (mount != mounts_.end()) uses.push_back(fmt::format("{} is mounted on {}", name, mount->place));
    if (swaps_.contains(name)) uses.push_back(fmt::format("{} is swap space in use", name));
    for (const std::string& holder : tree_.names(folder + "/holders")) find_uses(folder_of(holder), holder, seen, uses);
  }

  std::string drive_type(const std::string& name, const std::string& by_path) const {
    if (name.starts_with("sr")) return "ODD";
    if (name.starts_with("fd")) return "FDD";
    if (name.starts_with("md")) return "RAID";
    if (is_mapped(name)) return starts_mapped(name, "mpath-") ? "Multipath" : "LVM";
    if (by_path.find("-iscsi-") != std::string::npos) return "iSCSI";
    if (by_path.find("-fc-") != std::string::npos) return "FC";
    return tree_.text(folder_of(name) + "/queue/rotational") == "0" ? "SSD" : "HDD";
  }

  // The first file that says something.
  std::string first_text(const std::string& name, std::initializer_list<const char*> files) const {
    for (const char* file : files) {
      if (std::string text = tree_.text(folder_of(name) + "/" + file); !text.empty()) return text;
    }
    return "";
  }

  Disk read(const std::string& name) const {
    const UdevRecord udev = read_udev(tree_, tree_.text(folder_of(name) + "/dev"));
    Disk disk{.id = "", .name = name, .path = "/dev/" + name};
    disk.by_id = udev.link("by-id");
    disk.by_path = udev.link("by-path");
    disk.id = !disk.by_id.empty() ? disk.by_id : !disk.by_path.empty() ? disk.by_path : disk.path;
    const std::vector<std::string> addresses = tree_.names(folder_of(name) + "/device/scsi_device");
    if (!addresses.empty()) disk.hctl = addresses.front();
    disk.drive_type = drive_type(name, disk.by_path);
    disk.model = first_text(name, {"device/model"});
    disk.vendor = first_text(name, {"device/vendor"});
    disk.serial = udev.property("ID_SERIAL_SHORT");
    if (disk.serial.empty()) disk.serial = first_text(name, {"device/serial", "serial"});
    disk.wwn = udev.property("ID_WWN_WITH_EXTENSION");
    if (disk.wwn.empty()) disk.wwn = udev.property("ID_WWN");
    if (disk.wwn.empty()) disk.wwn = first_text(name, {"device/wwid", "wwid"});
    disk.size_bytes = tree_.number(folder_of(name) + "/size") * sector;
    disk.removable = tree_.text(folder_of(name) + "/removable") == "1";
    const std::vector<std::string> parts = partitions(name);
    // Firmware tries a disk that has a partition table.
    disk.bootable = !parts.empty() || !udev.property("ID_PART_TABLE_TYPE").empty();
    std::vector<std::string> uses;
    std::set<std::string> seen;
    find_uses(folder_of(name), name, seen, uses);
    for (const std::string& part : parts) find_uses(folder_of(name) + "/" + part, part, seen, uses);
    for (const std::string_view folder : medium_folders) {
      for (const std::string& use : uses) {
        if (use.ends_with(fmt::format("is mounted on {}", folder))) disk.is_installation_media = true;
      }
    }
    set_reasons(disk, uses);
    return disk;
  }

  void set_reasons(Disk& disk, const std::vector<std::string>& uses) const {
    if (disk.is_installation_media) disk.reasons.emplace_back("Disk is the medium of the live system");
    if (disk.removable) disk.reasons.emplace_back("Disk is removable");
    if (disk.drive_type == "LVM") disk.reasons.emplace_back("Disk is an LVM logical volume");
    if (tree_.text(folder_of(disk.name) + "/ro") == "1") disk.reasons.emplace_back("Disk is read-only");
    if (disk.drive_type == "iSCSI" && !tree_.has("/sys/firmware/ibft")) {
      disk.reasons.emplace_back("iSCSI disk is not in the iSCSI boot firmware table, so the machine cannot boot from it");
    }
    for (const std::string& use : uses) disk.reasons.push_back(fmt::format("Disk is in use: {}", use));
  }

  const SystemTree& tree_;
  std::vector<Mount> mounts_;
  std::set<std::string> swaps_;  // names
};

}  // namespace

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    // ID PARENT MAJOR:MINOR ROOT PLACE OPTIONS ...
    if (fields.size() >= 6) mounts.push_back({std::string(fields[2]), std::string(fields[4])});
  }
  return mounts;
}

std::vector<Disk> read_disks(const SystemTree& tree) { return Reader(tree).read(); }

}  // namespace slipway::agent
