// Provider: creates and removes the machines of one cluster. cluster/ and cli/ know a platform only through this header.
//
// A provider belongs to one cluster, by name. Each call may be repeated: what exists is kept, what is missing is created, so a
// command that was killed continues when it is run again. Nothing here decides what a cluster needs: callers pass names, Ignition
// configs and the order.
#pragma once

#include "assets/assets.h"
#include "base/result.h"
#include "config/install_config.h"
#include "sys/context.h"
#include "sys/events.h"
#include "sys/runner.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider {

// What callers branch on, never on the name of a platform. What is known of a platform without a provider is in
// config/platforms.h: whether it names Nodes, moves virtual addresses by VRRP, and limits user data.
struct Capabilities {
  bool plans_addresses = false;  // Machine::address is known before the machine exists
  bool runs_commands = false;    // run() and probe() work, without SSH
};

// A machine of the plan.
struct Machine {
  std::string name;       // "bootstrap", "master-0"
  std::string role;       // "bootstrap", "master", "worker"
  std::string address{};  // empty unless Capabilities::plans_addresses

  bool operator==(const Machine&) const = default;
};

// Machines of one role, which have the same Ignition config.
struct MachineGroup {
  std::string role;
  std::vector<std::string> names;
  std::string ignition;  // text of the config, without a limit of length: the provider puts it where machines find it
  std::string after{};   // these boot only when the machine of this name is removed; empty: at once
};

// A machine that exists.
struct MachineStatus {
  std::string name;
  std::string state;      // the platform's word: "running", "igniting"
  std::string reason{};   // why it is not running, if the platform says so
  std::string address{};  // empty: not known yet
  bool is_on = false;
  bool is_booting = false;  // on, and its system has not started completely

  bool operator==(const MachineStatus&) const = default;
};

// What a cluster is created from.
struct ClusterRequest {
  const config::InstallConfig& config;
  const assets::ClusterId& id;
  std::string release{};  // image by digest
  std::string release_version{};
};

// What exists under the cluster's name.
struct ExistingCluster {
  enum class Of { nothing, this_cluster, another_cluster };
  Of of = Of::nothing;
  std::string release{};  // that it was created with; empty: not recorded
  std::string release_version{};
};

// Where this host reaches the cluster if not by its own names: ports of an address of this host.
struct HostAccess {
  std::string address;
  int api_port = 0;
  int http_port = 0;  // of applications; 0: none
  int https_port = 0;
};

// A file of a log bundle.
struct BundleFile {
  std::string path;  // below the bundle: "host/master-0.console.log"
  std::string content;
};

// Errors of all calls: unavailable, timeout: the same call may succeed later; denied: which permission or credential is missing;
// cancelled: a stop was requested. Threads: list, run, probe, follow and bundle_files any, the others one.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual Capabilities capabilities() const = 0;

  // The machines that an install-config asks for: the bootstrap machine, the control plane, the workers. Pure.
  // errors: invalid: for instance too few addresses
  virtual Result<std::vector<Machine>> plan(const config::InstallConfig& config) const = 0;

  // errors: invalid: no machine of the platform can have this name
  virtual Result<> check_name(const std::string& name) const = 0;

  // errors: invalid: its record is damaged
  virtual Result<ExistingCluster> find(const assets::ClusterId& id) = 0;

  // Checks all that create() needs, and changes nothing. Doubts are logged as warnings.
  // errors: invalid: all that is missing, a line each with what to do; conflict: the name belongs to another cluster
  virtual Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                             const std::vector<MachineGroup>& groups) = 0;

  // Creates the network and the machines, and switches them on; returns before they have booted.
  // errors: conflict: another cluster has the name, an address is in use, a machine has another address than planned
  virtual Result<> create(const sys::Context& context, const ClusterRequest& request,
                          const std::vector<MachineGroup>& groups) = 0;

  // Switches on all machines of a cluster that exists. errors: conflict: another cluster has the name
  virtual Result<> start(const sys::Context& context, const ClusterRequest& request) = 0;

  // Adds a machine to a cluster that exists, or switches on the one of this name. `ignition` is used for a new one only.
  virtual Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) = 0;

  // errors: not_found: no such cluster
  virtual Result<std::vector<MachineStatus>> list(const sys::Context& context) = 0;

  // Removes a machine with its disk. Succeeds when there is none of this name. errors: not_found: no such cluster
  virtual Result<> remove(const sys::Context& context, const std::string& name) = 0;

  // Removes everything that create() and add() made. Succeeds when there is nothing.
  virtual Result<> remove_all(const sys::Context& context) = 0;

  // Runs a command in a machine as root. errors: not_found, conflict: the machine is off; those of sys::Runner; time: until it
  // ends
  virtual Result<sys::Output> run(const sys::Context& context, const std::string& machine, sys::Command command) = 0;

  // What a machine reaches of its network, also before its first boot: lines of diagnosis/probe.h.
  virtual Result<std::string> probe(const sys::Context& context, const std::string& machine) = 0;

  // Puts the events of all machines on the context's stream until a stop, or until the provider can tell no more (unavailable).
  virtual Result<> follow(const sys::Context& context) = 0;

  // Events of the machines since they were created; none when there is no such cluster.
  virtual Result<std::vector<sys::Event>> events() = 0;

  // For a log bundle: what the platform knows of the machines. errors: not_found: no such cluster
  virtual Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) = 0;

  // errors: not_found: no such cluster
  virtual Result<std::optional<HostAccess>> host_access() = 0;
};

}  // namespace slipway::provider
