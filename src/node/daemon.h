// machine-config-daemon: keeps a machine at the MachineConfig that its Node asks for, and reports the progress on the Node. The
// machine-config-controller and the daemon communicate through annotations machineconfiguration.openshift.io/...:
//
//   desiredConfig      of the controller: the name of the desired config
//   desiredImage       of the controller: an image of the operating system instead of that of the config; usually missing
//   currentConfig      of the daemon: the name of the config of the machine
//   currentImage       of the daemon: its image, if it is not that of the config
//   slipway.internal/coming-config, coming-image
//                      of the controller: what this machine gets when its turn comes, which is soon; usually missing
//   state, reason      of the daemon: Done, Working, Rebooting, Degraded (an error, retried), Unreconcilable (only a new machine
//                      can have the config); and the reason
//   desiredDrain       of the daemon: "drain-STATE" before a change that needs it, "uncordon-STATE" afterwards
//                      (MachineState::text())
//   lastAppliedDrain   of the controller: the same text when it is done
#pragma once

#include "kube/client.h"
#include "machineconfig/disruption_policy.h"
#include "machineconfig/machine_state.h"
#include "node/config_disk.h"
#include "node/os_update/updater.h"
#include "node/program.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::node {

// Reconciles the machine step by step with its Node. All state is on the disk and on the Node, so that a new daemon continues
// after a kill at any point. Threads: one.
class Daemon {
 public:
  enum class Next {
    wait,   // for a change of the Node, and check the disk periodically
    retry,  // after an error that is reported on the Node
    leave,  // the machine reboots
  };

  Daemon(const Environment& environment, kube::Api& api, OsUpdater& os);

  // Does what is possible now. Errors of the machine are reported on the Node; the returned errors are those of the API.
  Result<Next> step(const Json& node);

 private:
  Result<std::optional<machineconfig::MachineConfig>> first_config();
  Result<std::optional<Next>> end_trial(const machineconfig::MachineConfig& current,
                                        std::optional<machineconfig::MachineConfig>& interrupted);
  // Why the machine is updated.
  enum class Reason {
    config,     // its Node asks for another config
    abandoned,  // the same, and actions after the last update have failed: it reboots
    forced,     // a user requested it: it reboots, whatever the state of its files
  };
  Result<Next> update(const machineconfig::MachineConfig& current, std::optional<machineconfig::MachineConfig> interrupted,
                      Reason reason);
  Result<> change_os(const machineconfig::MachineConfig& current, const std::optional<machineconfig::MachineConfig>& interrupted,
                     const machineconfig::MachineConfig& wanted);
  bool is_ready_since_boot() const;
  Result<> fetch_os(const machineconfig::MachineConfig& wanted);
  Result<Next> finish(const machineconfig::MachineState& state, const machineconfig::Actions& actions);
  Result<Next> settle(const machineconfig::MachineState& current);
  void fetch_coming(const machineconfig::MachineConfig& current);
  Result<bool> has_drained(const std::string& request);
  Result<Next> fail(std::string_view state, const Error& why);
  Result<> report(std::string_view state, std::string_view reason, JsonObject more = {});
  Result<machineconfig::MachineConfig> fetch(const std::string& name);
  Result<machineconfig::DisruptionPolicy> disruption_policy();
  void emit(std::string_view type, std::string_view reason, std::string_view message);
  std::string annotation(std::string_view name) const;

  const Environment& environment_;
  kube::Api& api_;
  OsUpdater& os_;
  ConfigDisk disk_;
  Json node_;
  std::string tried_coming_;  // MachineState::text() of what fetch_coming() has tried to fetch
};

// start --node-name=NAME [--root-mount=/rootfs] [--kubeconfig=FILE]
//
// Runs in a container of the machine, with the processes of the machine and its root at --root-mount. It runs the programs of
// that root. First, it copies slipway-node and its libraries from its container to /usr/local on the machine, so that both have
// the same version. Removes what only the first boot needs (os_update/image_source.h), and what builds of OS images have left on
// the machine (os_build/leftovers.h). Follows the Node; writes the kubelet CA of ControllerConfig when it changes. Checks for
// changes of files by other programs at each step and every five minutes, without inotify, because machines have too few
// instances. Beside that, it keeps the local volumes of the Node (volumes.h).
//
//   errors  invalid: arguments; denied: the token of the service account is rejected (restart with a new one)
//   time    until a stop, which is a success
Result<> run_daemon(const Environment& environment, const Arguments& arguments);

// The same with another API, directly on the machine.
Result<> keep_configured(const Environment& environment, kube::Api& api, OsUpdater& os, const std::string& node_name);

}  // namespace slipway::node
