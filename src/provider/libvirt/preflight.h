// Checks a libvirt host before a cluster is created there. Pure.
#pragma once

#include "base/findings.h"
#include "config/install_config.h"
#include "provider/libvirt/connection.h"
#include "provider/provider.h"

#include <string>
#include <vector>

namespace slipway::provider::libvirt {

// How many times longer the waits of an installation may take on emulated machines. A control plane that is ready after 30 s on
// machines with KVM needs 250 s on emulated ones with two processors.
inline constexpr int pace_of_emulation = 8;

// What the host has.
struct HostState {
  HostFacts host{};
  bool has_kvm = false;
  std::vector<Network> networks{};
  std::optional<Pool> pool{};  // the user's, if the config names one and it exists
};

// Problems of the host for a cluster, and warnings.
//
//   machines  that do not exist yet
Findings check_host(const config::InstallConfig& config, std::string_view infra_id, const HostState& state,
                    const std::vector<Machine>& machines);

}  // namespace slipway::provider::libvirt
