// Commands about whole clusters: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command create_cluster_command();
Command create_worker_command();
Command wait_for_bootstrap_command();
Command wait_for_install_command();
Command timeline_command();
Command gather_bootstrap_command();
Command destroy_bootstrap_command();
Command destroy_cluster_command();
Command destroy_worker_command();

// What people read of the console of a complete cluster, and of kubeadmin where there is a file with its password: none where the
// user gave the hash, or wanted no kubeadmin. The password itself is never said: what stands on a terminal ends up in logs. Pure.
std::vector<std::string> console_lines(const std::string& console, const std::optional<std::string>& password_file);

}  // namespace slipway::cli
