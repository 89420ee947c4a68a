// A cluster on local machines: which machines an install-config asks for, what their network knows, how the host reaches it.
// Pure but for the last function.
#pragma once

#include "assets/assets.h"
#include "config/install_config.h"
#include "kube/kubeconfig.h"
#include "provider/local/client.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

struct Machine {
  std::string name;     // "bootstrap", "master-0"
  std::string role;     // "bootstrap", "master"
  std::string address;  // that the provider will give it: machines get theirs in the order in which they are made

  bool operator==(const Machine&) const = default;
};

// The bootstrap machine, which comes first, and the control plane. errors: invalid: the machine network is none
Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config);

// Those of them that will be nodes.
std::vector<assets::Environment::Node> planned_nodes(const std::vector<Machine>& machines);

inline constexpr int api_port = 6443;

// The network, its names (api, api-int, *.apps), and the way from the host to the API.
provider::local::ClusterWishes local_wishes(const config::InstallConfig& config, const assets::ClusterId& id,
                                            const std::string& os_repo, const provider::local::Images& images);

}  // namespace slipway::cluster
