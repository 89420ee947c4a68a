// What `create cluster` and `wait-for` have in common: an installation is watched, and its end is explained.
#pragma once

#include "cli/command.h"
#include "cluster/fault_watch.h"
#include "cluster/steps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

// Runs an installation, or the wait for one, in which all events are signs of life for the watch. When a step fails, the program
// ends with the exit status of that step, and the log says what the operators report and what to do.
Result<> installing(const Environment& environment, const std::string& folder,
                    const std::function<Result<>(cluster::FaultWatch&, cluster::Steps&)>& work);

// The last step of an installation: without it programs of users refuse the certificates of applications.
Result<> trust_routers(const Environment& environment, const std::string& folder);

// Logs settings of the user that have no effect in this release.
void warn_of_ignored_settings(const Environment& environment, const std::string& folder);

// Logs where the console is, of a release that has one.
Result<> tell_console(const Environment& environment, const std::string& folder);

// What users read of the console of a complete cluster, and of kubeadmin if there is a file with its password: none if the user
// gave the hash, or wanted no kubeadmin. The password itself is never printed, because terminals are logged. Pure.
std::vector<std::string> console_lines(const std::string& console, const std::optional<std::string>& password_file);

}  // namespace slipway::cli
