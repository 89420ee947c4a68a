// Disk images of the machine OS. They are made on the host from the OSTree commit of a release, in the form that a platform
// imports.
#pragma once

#include "base/findings.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

// A place where machines boot the image.
struct DiskPlatform {
  std::string_view name;      // in names of files and in stream metadata: "openstack"
  std::string_view ignition;  // Ignition's name (ignition.platform.id): where the first boot gets the config
  std::string_view format;    // of disk_formats(): what the platform imports
  std::string_view used_for;  // for users
};

std::span<const DiskPlatform> disk_platforms();

// "raw", "qcow2", ...; also the suffix of a file.
std::span<const std::string_view> disk_formats();

// Whether the format is a live image, which boots from a medium (iso) or a network (pxe; the output is a folder).
bool is_live(std::string_view format);

// The only platform that has live images.
inline constexpr std::string_view live_platform = "metal";

// nullptr if there is no such platform.
const DiskPlatform* find_disk_platform(std::string_view name);

// What an image contains besides the commit.
struct FirstBoot {
  std::string ignition{};                           // a config of version 3.3 or older; "": the platform provides it
  std::vector<std::string> kernel_arguments{};      // of every boot
  std::vector<std::string> first_boot_arguments{};  // of the kernel, for the first boot only
};

// What a live image from a medium writes to a disk of its machine.
struct Installation {
  std::string device;        // "/dev/sda"; "": nothing
  bool is_by_agent = false;  // slipway-agent chooses the disk, in an assisted installation
  FirstBoot first_boot{};    // from this disk
};

struct DiskImageRequest {
  std::string programs;    // the folder with the programs disk-build, disk-convert and disk-live
  std::string repository;  // the OSTree repository
  std::string ref;         // the commit in it
  const DiskPlatform* platform = nullptr;
  std::string format;           // of disk_formats()
  std::string name;             // of a virtual machine that is made from an ova
  FirstBoot first_boot{};       // of the disk, or of the live system
  Installation installation{};  // of the format iso
  std::string output;           // the file; mode 0600
};

// The version of the release that the commit was made from.
//
//   errors  not_found: no such commit, or it has no version; those of ostree
Result<std::string> os_version(const sys::Context& context, sys::Runner& runner, const std::string& repository,
                               const std::string& ref);

// Adds an error for each thing that this host lacks for images in the format: root, and programs, with their Debian packages.
void check_disk_image_host(Findings& found, std::string_view format);

// Makes an image. An incomplete image of an earlier call with the same output is removed.
//
//   errors  conflict: the output exists; invalid: not root, or programs of the host are missing, one line each with a hint;
//           not_found: the programs; unavailable: with the message of a program
//   time    5 s (raw), 10 s (qcow2, pxe), 15 s (iso), 35 s (tar.gz), 45 s (vmdk, ova)
Result<> make_disk_image(const sys::Context& context, sys::Files& files, sys::Runner& runner, const DiskImageRequest& request);

}  // namespace slipway::release
