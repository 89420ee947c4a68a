// The service of an agent-based installation: it runs on the host with the rendezvous address, and installs the cluster of its
// image when all hosts are there, without a request.
#pragma once

#include "net/environment.h"
#include "service/core.h"
#include "service/rendezvous_config.h"

#include <memory>
#include <string>
#include <vector>

namespace slipway::service {

// slipway-assist rendezvous [--config=/etc/slipway-rendezvous] [--state=/run/slipway-rendezvous]
//
// Every host of the image runs it. It waits until the host has the rendezvous address, and then serves until a stop is requested:
// the host restarts when the cluster does not need the service any more. Records are in the state folder, in memory; after a kill
// it continues.
//
//   errors  invalid: flags, config; conflict: the folder or the port is in use
Result<> run_rendezvous(const net::Environment& environment, const std::vector<std::string>& arguments);

// What the config says of a host: its role, name and disk, which a user may also set with a PATCH of the host, and whether it
// carries the bootstrap.
struct HostSetting {
  std::string key;  // of the host in tables
  assist::Role role = assist::Role::auto_assign;
  std::string hostname{};     // empty: its own
  std::string disk{};         // ID; empty: the default
  bool is_bootstrap = false;  // the host with the rendezvous address, also if a user starts the installation

  bool operator==(const HostSetting&) const = default;
};

// What to do next. Pure.
struct RendezvousPlan {
  std::vector<HostSetting> settings{};  // that differ from those of the hosts
  std::string waits_for{};              // why the installation cannot start; empty: it starts
};

// The installation starts when the cluster is ready, the number of hosts is exactly that of the config, every host of the config
// is among them, and each has its settings. The host with the rendezvous address becomes a master.
//
//   cluster  before its installation
RendezvousPlan plan_rendezvous(const RendezvousConfig& config, const ClusterRecord& cluster,
                               const std::vector<std::shared_ptr<const HostRecord>>& hosts);

// Puts the records of the config, unless the state folder has them.
Result<> register_cluster(Core& core, const RendezvousConfig& config);

// Does what the plan says. Returns when it is to be called again at the latest. Threads: one.
class RendezvousDriver {
 public:
  RendezvousDriver(const net::Environment& environment, const RendezvousConfig& config)
      : environment_(environment), config_(config) {}

  Milliseconds drive(Core& core);

 private:
  void say(Core& core, const std::string& what);

  const net::Environment& environment_;
  const RendezvousConfig& config_;
  SteadyTime next_start_{};
  std::string said_;
};

}  // namespace slipway::service
