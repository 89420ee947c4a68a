#include "cli/analyze.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/create_assets.h"
#include "cli/explain.h"
#include "cli/graph.h"
#include "cli/machine.h"
#include "cli/preview.h"
#include "cli/release_commands.h"
#include "cli/validate.h"
#include "cli/version.h"

namespace slipway::cli {

std::span<const Command> commands() {
  static const std::vector<Command> table = {
      analyze_command(),
      {.words = "completion", .summary = "Completion of commands and options for shells"},
      completion_bash_command(),
      completion_fish_command(),
      completion_zsh_command(),
      {.words = "create", .summary = "Clusters, and the files they are made of, from an install-config.yaml; further workers"},
      create_install_config_command(),
      create_manifests_command(),
      create_ignition_configs_command(),
      create_single_node_ignition_config_command(),
      create_cluster_command(),
      create_worker_command(),
      {.words = "destroy", .summary = "Remove clusters, or workers of them"},
      destroy_bootstrap_command(),
      destroy_cluster_command(),
      destroy_worker_command(),
      diff_command(),
      explain_command(),
      {.words = "gather", .summary = "Collect what tells of failures"},
      gather_bootstrap_command(),
      graph_command(),
      {.words = "machine", .summary = "Local machines: containers on this host that boot, reboot and update like real ones"},
      machine_create_command(),
      machine_start_command(),
      machine_stop_command(),
      machine_reboot_command(),
      machine_list_command(),
      machine_console_command(),
      machine_shell_command(),
      machine_destroy_command(),
      machine_owner_command(),
      plan_command(),
      {.words = "release", .summary = "Releases: what is in them, copies of them"},
      release_info_command(),
      release_mirror_command(),
      timeline_command(),
      validate_command(),
      {.words = "wait-for", .summary = "Wait for a cluster of any platform to get so far"},
      wait_for_bootstrap_command(),
      wait_for_install_command(),
      version_command(),
  };
  return table;
}

std::span<const Option> global_options() {
  static const std::vector<Option> rows = {
      {.name = "--dir", .value = "DIR", .help = "the asset directory, of one cluster", .fallback = "."},
      {.name = "--log-level",
       .value = "LEVEL",
       .help = "least level of lines on standard error: trace, debug, info, warn, error, fatal or panic",
       .fallback = "info"},
      {.name = "--events", .value = "FILE", .help = "append what happens to this file, one JSON object a line"},
  };
  return rows;
}

}  // namespace slipway::cli
