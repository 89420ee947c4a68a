#include "provider/local/blank.h"

#include "base/json.h"
#include "base/uuid.h"
#include "sys/fd.h"
#include "sys/stages.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fmt/core.h>

#include <filesystem>

namespace slipway::provider::local {

namespace {

constexpr std::uint64_t disk_size =
    120'000'000'000;  // what an installation needs as its least; blocks exist when they are written
constexpr std::uint64_t sector = 512;
constexpr std::string_view device_in_machine = "/dev/vda";

std::string config_of(const MachinePaths& machine) { return machine.blank_disk() + "/config.ign"; }
std::string new_image_of(const MachinePaths& machine) { return machine.blank_disk() + "/image.json"; }
std::string installed_of(const MachinePaths& machine) { return machine.blank_disk() + "/installed.json"; }

// The text of a file that a machine wrote. A link or a device there could name one of the host, and a large file would take the
// memory of the host.
Result<std::string> read_of_machine(sys::Files& files, const std::string& path) {
  constexpr std::uint64_t largest = 64 << 20;
  const auto info = TRY(files.info(path));
  if (!info) return error(Code::invalid, "{}: is missing", path);
  if (info->kind != sys::FileKind::file) return error(Code::invalid, "{}: is not a regular file", path);
  if (info->size > largest) return error(Code::invalid, "{}: has {} bytes, at most {} are read", path, info->size, largest);
  return files.read(path);
}

Result<> show(const std::string& from, const std::string& to) {
  ::umount2(to.c_str(), MNT_DETACH);  // of the last boot
  if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0) return sys::system_error("mounting " + from);
  return Ok{};
}

}  // namespace

BootSource boot_source(bool is_live_requested, bool has_new_image, bool is_installed) {
  if (is_live_requested) return BootSource::live;
  if (has_new_image) return BootSource::new_image;
  return is_installed ? BootSource::installation : BootSource::live;
}

Result<BootSource> boot_source(sys::Files& files, const MachinePaths& machine) {
  const auto request = TRY(files.info(machine.live_request()));
  const auto image = TRY(files.info(new_image_of(machine))), installed = TRY(files.info(installed_of(machine)));
  return boot_source(request.has_value(), image.has_value(), installed.has_value());
}

std::vector<std::string> live_arguments(const Deployment& deployment) {
  return {"slipway.live", fmt::format("slipway.local.disk={}", disk_in_machine),
          fmt::format("slipway.local.commit={}", deployment.commit)};
}

std::vector<FirmwareFile> live_files() {
  return {{"/etc/systemd/system/slipway-agent.service.d/20-local.conf",
           fmt::format("[Service]\nEnvironment=SLIPWAY_AGENT_ROOT={}\n", hardware_in_machine)}};
}

Hardware hardware_of(const MachineRecord& record) {
  const std::string dmi = "/sys/class/dmi/id/", disk = "/sys/block/vda/", net = "/sys/class/net/eth0/";
  const std::string serial = "slipway-" + record.uuid.substr(0, 12);
  return {.files = {{dmi + "sys_vendor", "slipway\n"},
                    {dmi + "product_name", "local machine\n"},
                    {dmi + "product_uuid", uuid_of_hex(record.uuid) + "\n"},
                    {dmi + "product_serial", serial + "\n"},
                    {dmi + "board_serial", serial + "\n"},
                    {disk + "size", fmt::format("{}\n", disk_size / sector)},
                    {disk + "removable", "0\n"},
                    {disk + "ro", "0\n"},
                    {disk + "queue/rotational", "0\n"},
                    {disk + "device/model", "slipway disk\n"},
                    {disk + "device/serial", serial + "-0\n"},
                    // /sys of a machine shows the interfaces of the owner.
                    {net + "address", AddressPlan::mac(record.number) + "\n"},
                    {net + "type", "1\n"},
                    {net + "mtu", "1500\n"},
                    {net + "carrier", "1\n"},
                    {net + "speed", "10000\n"},
                    {net + "ifindex", "1\n"},
                    {net + "iflink", "2\n"}},
          .links = {{"/proc", "/proc"}, {"/run", "/run"}}};
}

Result<> make_empty_disk(sys::Files& files, const MachinePaths& machine) {
  TRY(files.make_directories(machine.blank_disk(), 0700));
  const sys::Fd device(::open(machine.blank_device().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!device.is_open()) return sys::system_error("creating " + machine.blank_device());
  if (::ftruncate(device.get(), static_cast<off_t>(disk_size)) != 0)
    return sys::system_error("creating " + machine.blank_device());
  return Ok{};
}

Result<> take_image(sys::Files& files, const ClusterPaths& cluster, const MachinePaths& machine,
                    const std::vector<std::string>& stages) {
  const std::string path = new_image_of(machine);
  const Json image = TRY(parse_json(TRY(read_of_machine(files, path)), path));
  const std::string commit = TRY(require_string(image, {"commit"}).context(path));
  if (!is_commit(commit)) return error(Code::invalid, "{}: commit must be 64 hexadecimal digits", path);
  if (!TRY(files.info(cluster.os() + "/" + commit)))
    return error(Code::invalid, "{}: the cluster does not have machine OS {}", path, commit.substr(0, 12));
  const std::string config = TRY(read_of_machine(files, config_of(machine)));
  for (const std::string& stage : stages) TRY(files.remove(sys::marker_path(machine.folder, stage)));
  TRY(files.remove(machine.ignition_begun()));
  return files.write(machine.ignition(), config, 0600);
}

Result<> finish_image(sys::Files& files, const MachinePaths& machine) {
  // The config last: with image.json, a call of take_image after a kill needs it.
  TRY(files.remove(installed_of(machine)));
  TRY(files.rename(new_image_of(machine), installed_of(machine)));
  return remove_config(files, machine);
}

Result<> remove_config(sys::Files& files, const MachinePaths& machine) { return files.remove(config_of(machine)); }

Result<LiveMemory> LiveMemory::mount(sys::Files& files, std::string mount_point) {
  TRY(files.make_directories(mount_point, 0700));
  if (::mount("live", mount_point.c_str(), "tmpfs", MS_NODEV, "mode=0700,size=50%") != 0)
    return sys::system_error("mounting the memory of a live system");
  return LiveMemory(std::move(mount_point));
}

LiveMemory::~LiveMemory() {
  if (!mount_point_.empty()) ::umount2(mount_point_.c_str(), MNT_DETACH);
}

Result<std::vector<std::string>> show_hardware(sys::Files& files, const MachineRecord& record, const MachinePaths& machine,
                                               const std::string& folder) {
  const std::string tree = folder + "/tree", disk = folder + "/disk", device = folder + "/device";
  const Hardware hardware = hardware_of(record);
  // A machine can make its read-only mount writable. Links that it left there would lead out of the folder.
  TRY(files.remove(tree));
  for (const FirmwareFile& file : hardware.files) TRY(files.write(tree + file.path, file.content, 0444));
  for (const HardwareLink& link : hardware.links) {
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(tree + link.path).parent_path(), failure);
    std::filesystem::create_symlink(link.target, tree + link.path, failure);
    if (failure) return error(Code::internal, "creating {}{}: {}", tree, link.path, failure.message());
  }
  TRY(files.make_directories(disk, 0700));
  if (!TRY(files.info(device))) TRY(files.write(device, "", 0600));
  TRY(show(machine.blank_disk(), disk));
  TRY(show(machine.blank_device(), device));
  return std::vector<std::string>{fmt::format("--bind-ro={}:{}", tree, hardware_in_machine),
                                  fmt::format("--bind={}:{}", disk, disk_in_machine),
                                  fmt::format("--bind={}:{}", device, device_in_machine)};
}

}  // namespace slipway::provider::local
