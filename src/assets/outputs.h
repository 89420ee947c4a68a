// Output files of the targets after `manifests`: Ignition configs, auth/, metadata.json, certificate of the journal gateway.
#pragma once

#include "assets/graph.h"
#include "assets/state.h"

#include <span>
#include <string_view>

namespace slipway::assets {

inline constexpr std::string_view metadata_file = "metadata.json";
inline constexpr std::string_view kubeconfig_file = "auth/kubeconfig";
// The login of machines of a local cluster for its registry of OS images.
inline constexpr std::string_view os_registry_file = "auth/os-registry.json";
inline constexpr std::string_view bootstrap_file = "bootstrap.ign";

// The user data of the bootstrap machine if bootstrap.ign is too large for the platform (assets/ignition/split_config.h).
inline constexpr std::string_view user_data_file = "bootstrap-user-data.ign";

// What a target does with an output file.
enum class Use { nothing, write, consume };

struct OutputFile {
  std::string_view path;
  Use ignition_configs;
  Use single_node;
  Use cluster;

  // For targets after `manifests`.
  Use by(Target target) const;
};

// All output files, in the order in which a target writes or consumes them.
std::span<const OutputFile> output_files();

// Contents of the output files by path, as generated: without the user's changes of Ignition configs, and without user_data_file.
// errors: those of the graph's functions
Result<Snapshot> generate_outputs(Graph& graph, Target target);

}  // namespace slipway::assets
