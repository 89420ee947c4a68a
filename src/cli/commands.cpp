#include "cli/agent_commands.h"
#include "cli/analyze.h"
#include "cli/cluster_commands.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/create_assets.h"
#include "cli/explain.h"
#include "cli/graph.h"
#include "cli/image/image_commands.h"
#include "cli/machine.h"
#include "cli/man_pages.h"
#include "cli/preview.h"
#include "cli/release/release_commands.h"
#include "cli/repair.h"
#include "cli/upgrade.h"
#include "cli/validate.h"
#include "cli/version.h"

namespace slipway::cli {

std::span<const Command> commands() {
  static const std::vector<Command> table = {
      {.words = "agent", .summary = "Install a cluster on hosts that boot one image, without a service that you run"},
      {.words = "agent create", .summary = "Create the image, or an example of its config"},
      agent_create_template_command(),
      agent_create_image_command(),
      {.words = "agent wait-for", .summary = "Wait for a milestone of such an installation"},
      agent_wait_for_bootstrap_command(),
      agent_wait_for_install_command(),
      analyze_command(),
      backup_command(),
      {.words = "completion", .summary = "Print shell completion scripts"},
      completion_bash_command(),
      completion_fish_command(),
      completion_zsh_command(),
      {.words = "create", .summary = "Create a cluster or its assets from install-config.yaml; add workers or masters"},
      create_install_config_command(),
      create_manifests_command(),
      create_ignition_configs_command(),
      create_single_node_ignition_config_command(),
      create_cluster_command(),
      create_master_command(),
      create_worker_command(),
      {.words = "destroy", .summary = "Remove a cluster, its bootstrap machine, a worker or a master"},
      destroy_bootstrap_command(),
      destroy_cluster_command(),
      destroy_master_command(),
      destroy_worker_command(),
      diff_command(),
      explain_command(),
      {.words = "gather", .summary = "Collect diagnostic data"},
      gather_bootstrap_command(),
      graph_command(),
      {.words = "image", .summary = "Make disk images of the machine OS, and write them to disks; load container images"},
      image_create_command(),
      image_list_command(),
      image_load_command(),
      image_write_command(),
      {.words = "machine", .summary = "Manage local machines: containers on this host that behave like machines"},
      machine_create_command(),
      machine_start_command(),
      machine_stop_command(),
      machine_reboot_command(),
      machine_list_command(),
      machine_console_command(),
      machine_shell_command(),
      machine_destroy_command(),
      machine_owner_command(),
      man_command(),
      orphans_command(),
      plan_command(),
      refresh_command(),
      {.words = "release", .summary = "Show, copy, export and import releases; make update graphs"},
      release_export_command(),
      release_graph_command(),
      release_import_command(),
      release_info_command(),
      release_list_command(),
      release_mirror_command(),
      release_remove_command(),
      repair_command(),
      {.words = "replace", .summary = "Replace a machine of a running cluster"},
      replace_master_command(),
      restore_command(),
      {.words = "scale", .summary = "Change the number of workers"},
      scale_workers_command(),
      timeline_command(),
      upgrade_command(),
      validate_command(),
      {.words = "wait-for", .summary = "Wait for an installation milestone"},
      wait_for_bootstrap_command(),
      wait_for_install_command(),
      watch_command(),
      version_command(),
      why_command(),
  };
  return table;
}

std::span<const Option> global_options() {
  static const std::vector<Option> rows = {
      {.name = "--dir", .value = "DIR", .help = "asset directory of the cluster", .fallback = "."},
      {.name = "--log-level",
       .value = "LEVEL",
       .help = "minimum log level on standard error: trace, debug, info, warn, error, fatal or panic",
       .fallback = "info"},
      {.name = "--events", .value = "FILE", .help = "append events to this file, one JSON object per line"},
  };
  return rows;
}

}  // namespace slipway::cli
