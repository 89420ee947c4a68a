// Commands about whole clusters: rows of the table of commands, one file each (create_cluster.cpp, wait_for.cpp, ...).
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command backup_command();
Command restore_command();
Command create_cluster_command();
Command create_master_command();
Command create_worker_command();
Command wait_for_bootstrap_command();
Command wait_for_install_command();
Command timeline_command();
Command watch_command();
Command gather_bootstrap_command();
Command destroy_bootstrap_command();
Command destroy_cluster_command();
Command destroy_master_command();
Command destroy_worker_command();
Command orphans_command();
Command refresh_command();
Command replace_master_command();
Command scale_workers_command();
Command why_command();

}  // namespace slipway::cli
