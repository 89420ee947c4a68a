// Blank machines: they have an empty disk and boot a live system until something is installed on it, as hosts of an assisted
// installation do. The live system is the machine OS of the cluster with everything writable in memory; Ignition applies the
// config of a discovery image at each of its boots.
//
// What an installer writes to the disk is a folder, which the live system sees at `disk_in_machine`:
//
//   config.ign       the Ignition config of the installed system, for its first boot
//   image.json       {"commit": COMMIT}, written last and at once: the machine boots from its disk now
//   installed.json   was image.json: the disk was made of it, and config.ign, which has secrets, was removed
#pragma once

#include "provider/local/boot_entry.h"
#include "provider/local/cluster_config.h"
#include "provider/local/firmware_files.h"
#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/files.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

inline constexpr std::string_view disk_in_machine = "/run/slipway-disk";
inline constexpr std::string_view hardware_in_machine = "/run/slipway-hardware";

// What the firmware of a blank machine boots.
enum class BootSource {
  live,         // the discovery image
  new_image,    // what was written to the disk since the last boot
  installation  // what the disk was made of
};

// The first that is there: a request to boot the discovery image once, a new image, an installation. Else the discovery image.
// Pure.
BootSource boot_source(bool is_live_requested, bool has_new_image, bool is_installed);

// The same for a machine. errors: as Files
Result<BootSource> boot_source(sys::Files& files, const MachinePaths& machine);

// Arguments of the live system's kernel, in addition to those of its deployment. Pure.
std::vector<std::string> live_arguments(const Deployment& deployment);

// Files in /etc of the live system, in addition to those of every machine: the agent sees the machine's own hardware. Pure.
std::vector<FirmwareFile> live_files();

// What programs see of the machine's hardware instead of the host's: its number and its disk, below FOLDER/sys; the rest are
// links to the files of the kernel. Pure.
struct HardwareLink {
  std::string path, target;

  bool operator==(const HardwareLink&) const = default;
};
struct Hardware {
  std::vector<FirmwareFile> files;
  std::vector<HardwareLink> links;
};
Hardware hardware_of(const MachineRecord& record);

// Creates the files of an empty disk, if they are missing. errors: as Files
Result<> make_empty_disk(sys::Files& files, const MachinePaths& machine);

// Makes the new image the one that the disk is made of: its config becomes that of the machine, and the stages that make disk and
// config are to run again. A call after a kill repeats it.
//
//   stages   names of the markers of these stages
//   errors   invalid: image.json is no record, or names a commit that the cluster does not have; as Files
Result<> take_image(sys::Files& files, const ClusterPaths& cluster, const MachinePaths& machine,
                    const std::vector<std::string>& stages);

// The disk is complete. errors: as Files
Result<> finish_image(sys::Files& files, const MachinePaths& machine);

// Removes a config without an image: of finish_image that was killed, or of an installer that did not write its image.
// errors: as Files
Result<> remove_config(sys::Files& files, const MachinePaths& machine);

// The memory of a live system, in the mount namespace of this process: a tmpfs for its layer and its /var. The destructor frees
// it.
class LiveMemory {
 public:
  // An empty one. errors: unavailable, denied: with the message of the kernel; as Files
  static Result<LiveMemory> mount(sys::Files& files, std::string mount_point);
  LiveMemory(LiveMemory&& other) noexcept : mount_point_(std::exchange(other.mount_point_, {})) {}
  LiveMemory& operator=(LiveMemory&&) = delete;
  ~LiveMemory();

 private:
  explicit LiveMemory(std::string mount_point) : mount_point_(std::move(mount_point)) {}

  std::string mount_point_;  // empty after a move
};

// Shows what the machine has instead of the host's at places in the owner's /run, which nspawn can bind.
//
//   returns  arguments of nspawn: {"--bind=SOURCE:TARGET", ...}
//   errors   as LiveMemory
Result<std::vector<std::string>> show_hardware(sys::Files& files, const MachineRecord& record, const MachinePaths& machine,
                                               const std::string& folder);

}  // namespace slipway::provider::local
