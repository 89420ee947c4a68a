// The disks of this machine, from /sys/block, /proc and udev's database. No program is run and no disk is opened.
#pragma once

#include "agent/system_tree.h"
#include "assist/inventory.h"

#include <string>
#include <vector>

namespace slipway::agent {

// A file system or swap space that is in use.
struct Mount {
  std::string device;  // "8:1", the numbers of its block device
  std::string place;   // "/var"; "swap"

  bool operator==(const Mount&) const = default;
};

// Reads the text of /proc/self/mountinfo; malformed lines are left out. Pure.
std::vector<Mount> parse_mounts(std::string_view mountinfo);

// All disks that a machine may be installed on or that a user expects to see, by name. Left out: loop devices, RAM disks, disks
// without a medium apart from optical drives, paths of a multipath disk, device-mapper devices that are neither multipath nor
// LVM.
//
// `reasons` of a disk say why it cannot be installed on: it is in use, removable, read-only, a logical volume, or the live
// medium. Size and kind of disks are judged by the service. A disk has the same ID after every boot if udev knows its serial
// number.
std::vector<assist::Disk> read_disks(const SystemTree& tree);

}  // namespace slipway::agent
