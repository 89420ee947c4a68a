// BootstrapHost: the bootstrap of a cluster in the live system of a host that later becomes a master. It applies bootstrap.ign to
// the running system and starts the services of the bootstrap. Everything that it makes is in memory: a restart of the host ends
// it.
#pragma once

#include "agent/bootstrap_units.h"
#include "kube/types.h"
#include "net/environment.h"
#include "sys/wait_for.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// What a wait waits for now; called after each change. Must not block for long.
using WaitReport = std::function<void(const std::string& reason)>;

// All functions may be repeated, also after a kill half-way. Waits have no limit: the service limits the stages of a host. A
// service of the bootstrap that has failed ends each wait with the end of its journal. Threads: one.
class BootstrapHost {
 public:
  // folder          of this program, in memory
  // is_single_node  the bootstrap ends with the config of this host as the only node, instead of a handover to other masters
  BootstrapHost(const net::Environment& environment, std::string folder, bool is_single_node = false)
      : environment_(environment), folder_(std::move(folder)), is_single_node_(is_single_node) {}

  std::string config_file() const { return folder_ + "/bootstrap.ign"; }

  // Plans, from config_file(), what is applied to the live system. Must be done before apply(), because it reads the files that
  // the config appends to. errors: those of live_config
  Result<> plan();

  // Applies the plan to the running system: folders, files, units, SSH keys. errors: those of node::ConfigDisk
  Result<> apply();

  // Pulls the release, completes the manifest of the cluster's controller, and starts the services. A single node first gets its
  // name, which the member of etcd is made for.
  // errors: internal: a service failed; those of run_checked
  Result<> start(const WaitReport& report);

  // Stops the services. Containers that they started, and files, stay until the host restarts.
  Result<> stop();

  // errors of the waits: internal: a service failed, with its journal; cancelled
  Result<> wait_for_ready_masters(int needed, const WaitReport& report);
  Result<> wait_for_bootkube(const WaitReport& report);
  Result<> wait_for_controller(const WaitReport& report);

 private:
  std::string plan_file() const { return folder_ + "/live.json"; }
  Result<std::vector<UnitState>> unit_states() const;
  Result<std::vector<UnitState>> healthy_units() const;
  Error failure_of(const FailedUnit& unit) const;
  Result<std::vector<Json>> objects(const kube::ResourceType& type, std::string_view space) const;
  Result<> wait(std::string_view what, const std::function<Result<sys::Observation>()>& observe, const WaitReport& report) const;

  const net::Environment& environment_;
  const std::string folder_;
  const bool is_single_node_;
};

}  // namespace slipway::agent
