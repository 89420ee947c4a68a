// The updater of the machine itself: which program changes the operating system, and the end of a trial.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"

#include <memory>
#include <string_view>

namespace slipway::node {

// Runs on the machine, as root, with a writable /sysroot and /boot (sys/own_mounts.h); trial() needs neither.
class MachineUpdater : public OsUpdater {
 public:
  // Ends a trial that was not accepted in time: records why, and makes the deployment before the next one that boots. Does
  // nothing without a trial. Returns whether the machine has to reboot.
  virtual Result<bool> give_up() = 0;
};

// What changes the operating system of a machine.
enum class OsProgram {
  ostree,      // slipway's machine OS
  rpm_ostree,  // RHEL CoreOS, Fedora CoreOS and relatives
  bootc,       // images for bootc that do not have rpm-ostree
};
std::string_view to_text(OsProgram program);

// rpm-ostree goes before bootc, because bootc sets neither kernel arguments nor packages, and refuses a machine on which
// rpm-ostree has done so.
//
//   errors  not_found: the machine has none of them
Result<OsProgram> find_os_program(sys::Files& files);

std::unique_ptr<MachineUpdater> make_machine_updater(const Environment& environment, OsProgram program);

// OsUpdater::check(), from the files of the machine.
Result<> check_machine(const Environment& environment, const machineconfig::MachineConfig& from,
                       const machineconfig::MachineConfig& to);

// Whether the booted deployment has the image and the extensions. Others may have been added by hand, except on slipway's machine
// OS.
//
//   errors  those of find_os_program() and of the program; invalid: an image without a digest; not_found: no deployment is booted
Result<bool> runs_images(const Environment& environment, const Images& images);

}  // namespace slipway::node
