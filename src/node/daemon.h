// machine-config-daemon: keeps a machine at the MachineConfig that its Node asks for, and reports its progress on the Node. The
// machine-config-controller and the daemon talk through annotations machineconfiguration.openshift.io/...:
//
//   desiredConfig      the controller's: the name of the config to have
//   currentConfig      ours: the name of the config that the machine has
//   state, reason      ours: Done, Working, Rebooting, Degraded (something went wrong, tried again), Unreconcilable (only a new
//                      machine can have it); why
//   desiredDrain       ours: "drain-CONFIG" before a reboot, "uncordon-CONFIG" afterwards
//   lastAppliedDrain   the controller's: the same text once it is so
#pragma once

#include "kube/client.h"
#include "node/config_disk.h"
#include "node/program.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::node {

// One step after another towards what the Node asks for; what it knows is on the disk and on the Node, so a daemon that is killed
// anywhere is followed by one that goes on. Threads: one.
class Daemon {
 public:
  enum class Next {
    wait,   // for a change of the Node; a look at the disk now and then
    retry,  // something went wrong that the Node tells
    leave,  // the machine reboots
  };

  Daemon(const Environment& environment, kube::Api& api);

  // Does what can be done now. What goes wrong on the machine is told on the Node; errors are those of the API.
  Result<Next> step(const Json& node);

 private:
  Result<std::optional<machineconfig::MachineConfig>> first_config();
  Result<Next> update(const machineconfig::MachineConfig& current, std::optional<machineconfig::MachineConfig> half,
                      bool is_forced);
  Result<Next> finish(const AfterUpdate& after);
  Result<Next> settle(const std::string& current);
  Result<bool> has_drained(const std::string& request);
  Result<Next> fail(std::string_view state, const Error& why);
  Result<> tell(std::string_view state, std::string_view reason, JsonObject more = {});
  Result<machineconfig::MachineConfig> fetch(const std::string& name);
  void emit(std::string_view type, std::string_view reason, std::string_view message);
  std::string annotation(std::string_view name) const;

  const Environment& environment_;
  kube::Api& api_;
  ConfigDisk disk_;
  Json node_;
};

// start --node-name=NAME [--root-mount=/rootfs] [--kubeconfig=FILE]
//
// For a container of the machine with the machine's processes and its root at --root-mount; its own programs are those of the
// machine from then on. Follows the Node; writes the ControllerConfig's kubelet CA as it changes. Files that somebody else
// changed are found at each step and every five minutes, without inotify, of which machines have too little.
//
//   errors  invalid: arguments; denied: the service account's token is refused: to be started again with a new one
//   time    until a stop, which is success
Result<> run_daemon(const Environment& environment, const Arguments& arguments);

// The same with an API of the caller's, on the machine itself.
Result<> keep_configured(const Environment& environment, kube::Api& api, const std::string& node_name);

}  // namespace slipway::node
