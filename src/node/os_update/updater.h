// OsUpdater: changes the operating system of a machine, for the machine-config-daemon and the first boot.
//
//   fetch ─► check ─► (the pods leave) ─► stage ─► reboot ─► trial: on_trial ─► accept
//                                                       └──► trial: failed, in the deployment before ─► forget
#pragma once

#include "base/result.h"
#include "machineconfig/types.h"

#include <string>
#include <vector>

namespace slipway::node {

// What became of the last staged deployment.
struct Trial {
  enum class State {
    none,      // nothing was staged, or the machine has not been started since
    on_trial,  // the machine runs it. If nobody accepts it in time, the machine boots the deployment before it
    failed,    // the machine runs the deployment before it
  };
  State state = State::none;
  std::string config{};  // MachineState::text() of what it was staged for; empty if there is none
  std::string reason{};  // failed: what failed, with the image
};

// What a staged deployment is made from.
enum class Wanted {
  next_config,   // image, extensions, kernel and files of nextconfig, instead of those of currentconfig (config_disk.h)
  first_config,  // image, extensions and kernel of the config that the machine was created with; Ignition wrote its files
};

// The config of Wanted::first_config, without its files. It exists until the first boot is complete.
inline constexpr const char* first_config_file = "/etc/ignition-machine-config-encapsulated.json";

// What a config takes from registries.
struct Images {
  std::string os{};          // empty: the machine keeps its image
  std::string extensions{};  // the image of the extensions; empty if the config has no extensions and the default kernel
  std::vector<std::string> wanted_extensions{};  // of that image, sorted (machineconfig/update_plan.h)

  bool operator==(const Images&) const = default;
};

// errors: invalid: extensions without an image of extensions, a type of kernel that does not exist
Result<Images> images_of(const machineconfig::MachineConfig& config);

// Every function can be called again after a kill at any point. Threads: one at a time.
class OsUpdater {
 public:
  virtual ~OsUpdater() = default;

  // Stores images and extensions on the machine, so that stage() needs no network. Does nothing if the machine has them.
  //
  //   errors  invalid: no digest, not an image of a machine OS, an extension that the image does not have, with those that it
  //           has; those of registries and the disk
  //   time    minutes
  virtual Result<> fetch(const Images& images) = 0;

  // Whether this machine can change from one config to another, with the images that fetch() has stored.
  //
  //   errors  invalid, listing all fields that the programs of this machine cannot change, with what to do instead
  //   time    milliseconds
  virtual Result<> check(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to) {
    (void)from, (void)to;
    return Ok{};
  }

  // Makes the deployment that the machine boots next. It begins with a copy of /etc. The running deployment stays as it is.
  //
  //   errors  not_found: an image or an extension was not fetched; those of ostree and the disk
  //   time    seconds
  virtual Result<> stage(Wanted wanted) = 0;

  virtual Result<Trial> trial() = 0;

  // The machine keeps the deployment that is on trial. Removes images that no deployment needs.
  virtual Result<> accept() = 0;

  // Forgets a trial. The running deployment is the one that boots from now on.
  virtual Result<> forget() = 0;
};

}  // namespace slipway::node
