#include "release/disk_image.h"

#include "release/commit_metadata.h"
#include "sys/programs.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace slipway::release {

namespace {

// Names and formats are those of CoreOS's stream metadata
// (https://github.com/coreos/stream-metadata-go/blob/main/stream/artifact_utils.go).
constexpr std::array platforms = {
    DiskPlatform{"aws", "aws", "raw", "Amazon EC2, by import-snapshot"},
    DiskPlatform{"gcp", "gcp", "tar.gz", "Google Compute Engine"},
    DiskPlatform{"kubevirt", "kubevirt", "qcow2", "KubeVirt"},
    DiskPlatform{"metal", "metal", "raw", "physical machines; the config is on the disk"},
    DiskPlatform{"nutanix", "nutanix", "qcow2", "Nutanix AHV"},
    DiskPlatform{"openstack", "openstack", "qcow2", "OpenStack and oVirt"},
    DiskPlatform{"qemu", "qemu", "qcow2", "QEMU and libvirt"},
    DiskPlatform{"vmware", "vmware", "ova", "vSphere"},
};

constexpr std::array<std::string_view, 7> formats = {"raw", "qcow2", "vmdk", "ova", "tar.gz", "iso", "pxe"};

constexpr std::array needed_programs = {sys::NeededProgram{"python3", "python3"},   sys::NeededProgram{"ostree", "ostree"},
                                        sys::NeededProgram{"sfdisk", "fdisk"},      sys::NeededProgram{"mke2fs", "e2fsprogs"},
                                        sys::NeededProgram{"debugfs", "e2fsprogs"}, sys::NeededProgram{"mkfs.vfat", "dosfstools"},
                                        sys::NeededProgram{"mcopy", "mtools"}};
constexpr std::array conversion_programs = {sys::NeededProgram{"qemu-img", "qemu-utils"}};
constexpr std::array live_programs = {sys::NeededProgram{"mksquashfs", "squashfs-tools"},
                                      sys::NeededProgram{"xorriso", "xorriso"}, sys::NeededProgram{"cpio", "cpio"},
                                      sys::NeededProgram{"zstd", "zstd"}};

// Beside the output, so that they can be renamed to it. A call after a kill replaces them.
std::string raw_image(const std::string& output) { return output + ".raw-image"; }
std::string disk_config(const std::string& output) { return output + ".ignition"; }
std::string live_config(const std::string& output) { return output + ".live-ignition"; }
std::vector<std::string> intermediate_files(const std::string& output) {
  return {raw_image(output), disk_config(output), live_config(output)};
}

// Makes the raw image of a disk.
Result<> make_raw(const sys::Context& context, sys::Files& files, sys::Runner& runner, const DiskImageRequest& request,
                  const FirstBoot& first_boot) {
  std::vector<std::string> command = {request.programs + "/disk-build", request.repository, request.ref,
                                      std::string(request.platform->ignition), raw_image(request.output)};
  for (const std::string& argument : first_boot.kernel_arguments) command.push_back("--append-karg=" + argument);
  for (const std::string& argument : first_boot.first_boot_arguments) command.push_back("--first-boot-karg=" + argument);
  if (!first_boot.ignition.empty()) {
    TRY(files.write(disk_config(request.output), first_boot.ignition, 0600));
    command.push_back("--ignition=" + disk_config(request.output));
  }
  TRY(sys::run_checked(runner, context, {.argv = command}));
  return Ok{};
}

Result<> make_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const DiskImageRequest& request) {
  TRY(make_raw(context, files, runner, request, request.first_boot));
  const std::string raw = raw_image(request.output);
  if (request.format == "raw") return files.rename(raw, request.output);
  TRY(sys::run_checked(runner, context,
                       {.argv = {request.programs + "/disk-convert", raw, request.format, request.output, request.name}}));
  return Ok{};
}

Result<> make_live(const sys::Context& context, sys::Files& files, sys::Runner& runner, const DiskImageRequest& request) {
  std::vector<std::string> command = {request.programs + "/disk-live", request.repository, request.ref, request.format,
                                      request.output};
  for (const std::string& argument : request.first_boot.kernel_arguments) command.push_back("--append-karg=" + argument);
  for (const std::string& argument : request.first_boot.first_boot_arguments) command.push_back("--append-karg=" + argument);
  if (!request.first_boot.ignition.empty()) {
    TRY(files.write(live_config(request.output), request.first_boot.ignition, 0600));
    command.push_back("--ignition=" + live_config(request.output));
  }
  if (!request.installation.device.empty()) {
    TRY(make_raw(context, files, runner, request, request.installation.first_boot));
    command.insert(command.end(), {"--install-disk", request.installation.device, raw_image(request.output)});
  } else if (request.installation.is_by_agent) {
    TRY(make_raw(context, files, runner, request, {}));
    command.insert(command.end(), {"--disk-image", raw_image(request.output)});
  }
  TRY(sys::run_checked(runner, context, {.argv = command}));
  return Ok{};
}

}  // namespace

bool is_live(std::string_view format) { return format == "iso" || format == "pxe"; }

std::span<const DiskPlatform> disk_platforms() { return platforms; }

std::span<const std::string_view> disk_formats() { return formats; }

void check_disk_image_host(Findings& found, std::string_view format) {
  if (::geteuid() != 0) {
    found.error({}, "host", "disk images require root, because their files belong to several users").hint("run it with sudo");
  }
  sys::find_missing(found, needed_programs);
  if (is_live(format)) {
    sys::find_missing(found, live_programs);
  } else if (format != "raw" && format != "tar.gz") {
    sys::find_missing(found, conversion_programs);
  }
}

const DiskPlatform* find_disk_platform(std::string_view name) {
  const auto found = std::ranges::find(platforms, name, &DiskPlatform::name);
  return found == platforms.end() ? nullptr : &*found;
}

Result<std::string> os_version(const sys::Context& context, sys::Runner& runner, const std::string& repository,
                               const std::string& ref) {
  Result<std::string> version = commit_metadata(context, runner, repository, ref, "version");
  if (version.ok() || version.error().code() != Code::unavailable) return version;
  return error(Code::not_found, "{}: no machine OS {} with a version: {}", repository, ref, version.error().message());
}

Result<> make_disk_image(const sys::Context& context, sys::Files& files, sys::Runner& runner, const DiskImageRequest& request) {
  Findings host;
  check_disk_image_host(host, request.format);
  TRY(host.to_result().context("making " + request.output));
  if (TRY(files.info(request.output)))
    return error(Code::conflict, "{}: exists already (remove it, or choose another file)", request.output);
  const Result<> done =
      is_live(request.format) ? make_live(context, files, runner, request) : make_disk(context, files, runner, request);
  for (const std::string& path : intermediate_files(request.output)) {
    if (const Result<> removed = files.remove(path); done.ok() && !removed.ok()) return removed;
  }
  return done;
}

}  // namespace slipway::release
