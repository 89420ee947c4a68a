// Provider: creates and removes the machines of one cluster. cluster/ and cli/ use the machines of a platform only through this
// header.
//
// A provider belongs to one cluster, by name. Each call may be repeated: it keeps what exists and creates what is missing, so a
// command that was killed continues when it is run again. A provider does not decide what a cluster needs: callers pass names,
// Ignition configs and the order.
#pragma once

#include "assets/assets.h"
#include "base/result.h"
#include "base/secret.h"
#include "config/install_config.h"
#include "net/x509.h"
#include "provider/plan/apply.h"
#include "provider/plan/preview.h"
#include "sys/context.h"
#include "sys/events.h"
#include "sys/runner.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider {

// The name of a cluster, and options of the command line by name without dashes ("state"). Each provider reads its own options.
struct ClusterSelection {
  std::string cluster;
  std::map<std::string, std::string, std::less<>> options{};
};

// Differences between platforms that callers handle. Callers check these members, never the name of a platform. Properties that
// are known without a provider are in config/platforms.h, for example whether Nodes have the names master-0, master-1, ...
// (names_nodes), whether machines hold virtual addresses by VRRP (holds_virtual_addresses), and how large user data may be.
struct Capabilities {
  bool runs_commands = false;    // run() and probe() work, without SSH
  bool adds_masters = false;     // add() and remove() work for masters, too
  bool plans_resources = false;  // preview(), resources(), refresh() and clusters() work
  bool marks_expiry = false;     // resources can have the time at which the cluster may be removed (option "expires")
  // Users may create the machines of an install-config themselves, with names of their own, although slipway could create them.
  bool has_foreign_machines = false;
};

// A planned machine.
struct Machine {
  std::string name;       // "bootstrap", "master-0"
  std::string role;       // "bootstrap", "master", "worker"
  std::string address{};  // empty if it is not known before the machine exists

  bool operator==(const Machine&) const = default;
};

// Machines of one role with the same Ignition config.
struct MachineGroup {
  std::string role;
  std::vector<std::string> names;
  std::string ignition;  // text of the config, of any length: the provider makes it available to the machines
  std::string after{};   // the machines boot when the machine with this name is removed; empty: at once
};

// An existing machine.
struct MachineStatus {
  std::string name;
  std::string state;      // as the platform calls it: "running", "igniting"
  std::string reason{};   // why the machine is not running, if the platform reports it
  std::string address{};  // empty: not known yet
  bool is_on = false;
  bool is_booting = false;  // on, but its system has not started completely

  bool operator==(const MachineStatus&) const = default;
};

// Inputs for creating a cluster.
struct ClusterRequest {
  const config::InstallConfig& config;
  const assets::ClusterId& id;
  std::string release{};  // pull spec with a digest
  std::string release_version{};
  const net::Certificate* authority = nullptr;  // of the cluster, with its key; signs what the platform serves to users
  // A docker config with the login that machines will push to the platform's registry with, so that manifests can contain it;
  // empty: a new login is made.
  Secret os_registry_login{};
};

// The cluster that exists with the provider's cluster name.
struct ExistingCluster {
  enum class Of { nothing, this_cluster, another_cluster };
  Of of = Of::nothing;
  std::string release{};  // with which it was created; empty: not recorded
  std::string release_version{};
};

// Addresses at which this host reaches the cluster: addresses of this host whose ports the platform forwards, or virtual
// addresses of the cluster. Users need them if their host cannot resolve the cluster's names.
struct HostAccess {
  std::string address;
  int api_port = 0;
  std::string applications{};  // address of the applications
  int http_port = 0;           // of applications; 0: none
  int https_port = 0;
};

struct RegistryLogin {
  std::string address;  // HOST:PORT
  std::string user;
  Secret password;
};

// A registry on this host to which images are pushed that the cluster then runs.
struct ImageRegistry {
  RegistryLogin people;                   // of users of this host: "127.43.1.9:5000"
  std::optional<RegistryLogin> machines;  // of machines of the cluster, for images of this host only
  std::string authority;                  // PEM; signed the certificate of both addresses
};

// What probe() tests in addition to the names and servers of the cluster.
struct ProbeRequest {
  std::vector<std::string> ports{};  // "10.97.77.12:2380": whether the machine can connect
  Milliseconds limit = Seconds(20);  // for the whole answer
};

// A file of a log bundle.
struct BundleFile {
  std::string path;  // in the bundle: "host/master-0.console.log"
  std::string content;
};

// A cluster that slipway created on a platform, as its marks there show it.
struct OwnedCluster {
  std::string infra_id;
  std::vector<std::string> resources{};  // keys, as in plan::Resource
  std::optional<WallTime> created{};     // of its oldest resource whose age the platform tells
  std::optional<WallTime> expires{};
  std::vector<plan::Priced> priced{};
};

// Errors of all calls: unavailable, timeout: the same call may succeed later; denied: a permission or credential is missing, with
// its name; cancelled: a stop was requested. Threads: any for list, run, probe, follow and bundle_files; one for all others.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual Capabilities capabilities() const = 0;

  // Where the machines are, for messages: a folder, a URI.
  virtual std::string place() const = 0;

  // Whether slipway creates the machines of an install-config. On some platforms that needs fields that are optional otherwise.
  // Pure. errors: invalid: all problems, one line each with a hint
  virtual Result<> check_config(const config::InstallConfig& config) const = 0;

  // The machines of an install-config: the bootstrap machine, the control plane, the workers. Pure.
  // errors: invalid: for instance too few addresses
  virtual Result<std::vector<Machine>> plan(const config::InstallConfig& config) const = 0;

  // errors: invalid: not a valid machine name on the platform
  virtual Result<> check_name(const std::string& name) const = 0;

  // How many times longer an installation may take than on usual machines: more than 1 on emulated ones.
  virtual Result<int> pace(const sys::Context& context) = 0;

  // Finds the cluster with the provider's cluster name. errors: invalid: its record is damaged
  virtual Result<ExistingCluster> find(const assets::ClusterId& id) = 0;

  // Checks everything that create() needs; changes nothing. Logs possible problems as warnings.
  // errors: invalid: all problems, one line each with a hint; conflict: the name belongs to another cluster
  virtual Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                             const std::vector<MachineGroup>& groups) = 0;

  // Creates the network and the machines and switches the machines on. Returns before they have booted.
  // errors: conflict: another cluster has the name, an address is in use, a machine has another address than planned
  virtual Result<> create(const sys::Context& context, const ClusterRequest& request,
                          const std::vector<MachineGroup>& groups) = 0;

  // Switches on all machines of an existing cluster. errors: conflict: another cluster has the name
  virtual Result<> start(const sys::Context& context, const ClusterRequest& request) = 0;

  // Adds a machine to an existing cluster, or switches on the existing machine. `ignition` is used for a new machine only.
  virtual Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) = 0;

  // errors: not_found: no such cluster
  virtual Result<std::vector<MachineStatus>> list(const sys::Context& context) = 0;

  // Removes a machine and its disk. Succeeds if there is no such machine. errors: not_found: no such cluster
  virtual Result<> remove(const sys::Context& context, const std::string& name) = 0;

  // Removes everything that create() and add() created. Succeeds if there is nothing.
  virtual Result<> remove_all(const sys::Context& context) = 0;

  // Runs a command in a machine as root. errors: not_found; conflict: the machine is off; those of sys::Runner. time: until the
  // command ends
  virtual Result<sys::Output> run(const sys::Context& context, const std::string& machine, sys::Command command) = 0;

  // Tests what a machine can reach on its network, even before its first boot, and what state it is in. Returns lines as in
  // diagnosis/probe.h.
  virtual Result<std::string> probe(const sys::Context& context, const std::string& machine, const ProbeRequest& request) = 0;

  // Relays the events of all machines to the context's events. Blocks until a stop. errors: unavailable: the source of events
  // ended
  virtual Result<> follow(const sys::Context& context) = 0;

  // Events of the machines since they were created; empty if there is no such cluster.
  virtual Result<std::vector<sys::Event>> events() = 0;

  // The platform's data about the machines, for a log bundle. errors: not_found: no such cluster
  virtual Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) = 0;

  // Adds machines as add() does; more than one at a time where the platform can.
  virtual Result<> add_all(const sys::Context& context, const std::vector<std::string>& names, const std::string& ignition) {
    for (const std::string& name : names) TRY(add(context, name, ignition));
    return Ok{};
  }

  // What create() would do, after the checks of preflight(). Changes nothing. After the bootstrap, machines that are missing
  // are not planned: create() does not create them any more.
  virtual Result<plan::Preview> preview(const sys::Context&, const ClusterRequest&, const std::vector<MachineGroup>&) {
    return no_plan();
  }

  // All resources of the cluster, in the order in which remove_all() removes them.
  virtual Result<std::vector<plan::Found>> resources(const sys::Context&) { return no_plan(); }

  // Brings the journal of the cluster's resources in line with the platform. errors: conflict: another command changes them
  virtual Result<plan::Drift> refresh(const sys::Context&) { return no_plan(); }

  // The clusters that slipway created at this place, whatever their asset directories are. Sorted by infraID.
  virtual Result<std::vector<OwnedCluster>> clusters(const sys::Context&) { return no_plan(); }

  // Empty if slipway knows no address. errors: not_found: no such cluster
  virtual Result<std::optional<HostAccess>> host_access() = 0;

  // Empty if the platform has none. errors: not_found: no such cluster
  virtual Result<std::optional<ImageRegistry>> image_registry() { return std::optional<ImageRegistry>(); }

 private:
  Error no_plan() const { return error(Code::unavailable, "{}: this platform has no resources that slipway plans", place()); }
};

}  // namespace slipway::provider
