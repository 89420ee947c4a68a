// What the commands share that wait for a cluster.
#pragma once

#include "cli/command.h"
#include "cluster/ready.h"

#include <string>

namespace slipway::cli {

// Waits for a cluster of any platform, with the kubeconfig of its directory. Each condition is a step.
Result<> wait_for_conditions(const Environment& environment, const Arguments& arguments, const std::string& folder,
                             const config::InstallConfig& config, const std::vector<cluster::Condition>& conditions);

// Warns that the Ignition configs have expired: machines that start now cannot join. An installed cluster has newer certificates.
void warn_if_expired(const Environment& environment, const std::string& folder);

// The end of an installation: the user's programs trust the routers, and the log says how to use the cluster.
Result<> finish_installation(const Environment& environment, const std::string& folder);

inline constexpr const char* waiting_interrupted = "the installation continues; run the same command to wait again";

}  // namespace slipway::cli
