#include "cli/analyze.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/create_assets.h"
#include "cli/machine.h"
#include "cli/release_commands.h"
#include "cli/version.h"

namespace slipway::cli {

std::span<const Command> commands() {
  static const std::vector<Command> table = {
      analyze_command(),
      {.words = "create", .summary = "Clusters, and the files they are made of, from an install-config.yaml; further workers"},
      create_manifests_command(),
      create_ignition_configs_command(),
      create_cluster_command(),
      create_worker_command(),
      {.words = "destroy", .summary = "Remove clusters, or workers of them"},
      destroy_bootstrap_command(),
      destroy_cluster_command(),
      destroy_worker_command(),
      {.words = "gather", .summary = "Collect what tells of failures"},
      gather_bootstrap_command(),
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
      {.words = "release", .summary = "Releases: what is in them, copies of them"},
      release_info_command(),
      release_mirror_command(),
      timeline_command(),
      {.words = "wait-for", .summary = "Wait for a cluster of any platform to get so far"},
      wait_for_bootstrap_command(),
      wait_for_install_command(),
      {.words = "version",
       .summary = "Print the version of this program",
       .options = {{.name = "--output",
                    .value = "text|json",
                    .help = "form of the output",
                    .fallback = "text",
                    .choices = {"text", "json"}}},
       .run = version},
  };
  return table;
}

}  // namespace slipway::cli
