// What `create cluster` and `wait-for` share: an installation is watched, and a failure is explained.
#pragma once

#include "cli/command.h"
#include "cluster/fault_watch.h"
#include "cluster/steps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

// Runs an installation, or a wait for one. The watch receives all events. When a step fails, the program exits with the status of
// that step, and the log contains the reports of the operators and what to do.
Result<> installing(const Environment& environment, const std::string& folder,
                    const std::function<Result<>(cluster::FaultWatch&, cluster::Steps&)>& work);

// The last step of an installation. Without it, the user's programs reject the certificates of applications.
Result<> trust_routers(const Environment& environment, const std::string& folder);

// Logs the settings that have no effect in this release.
void warn_about_ignored_settings(const Environment& environment, const std::string& folder);

// Logs the URL of the web console, if the release has one.
Result<> log_console(const Environment& environment, const std::string& folder);

// The log lines about the console of a complete cluster, and about kubeadmin if there is a file with the password. There is no
// file if the user gave the hash or disabled kubeadmin. The password itself is never printed, because terminals are logged. Pure.
std::vector<std::string> console_lines(const std::string& console, const std::optional<std::string>& password_file);

}  // namespace slipway::cli
