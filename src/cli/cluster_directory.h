// An asset directory from which a cluster was created: the cluster, its machines, its events.
#pragma once

#include "assets/assets.h"
#include "cli/command.h"
#include "kube/client.h"
#include "provider/providers.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

// The cluster that an asset directory belongs to.
struct ClusterDirectory {
  std::string folder;
  std::string cluster;
  assets::ClusterId id;
  std::string platform{};  // empty: the program did not create the machines
  std::string uri{};       // of the platform's host, on platform libvirt
  std::string place{};     // --place, instead of that of the files
  std::string section{};   // JSON: platform.NAME of the install-config, or the platform's member of metadata.json
};

// The cluster that will be created from an install-config in a directory; with its id if it has one already.
ClusterDirectory new_cluster_directory(const Environment& environment, const std::string& folder,
                                       const config::InstallConfig& config);

// Reads metadata.json. errors: not_found: the file does not exist; invalid
Result<ClusterDirectory> read_cluster_directory(const Environment& environment, const std::string& folder);

using OpenedProvider = std::unique_ptr<provider::Provider>;

// The cluster that the options of place_options() name, with DIR for its journal. Empty if they name none.
// errors: invalid: an option is missing, DIR belongs to another cluster
Result<std::optional<ClusterDirectory>> named_cluster(const Environment& environment, const Arguments& arguments);
std::vector<Option> place_options();

// Only commands with the options for new machines create machines.
enum class ProviderUse { existing_machines, new_cluster };

// errors: invalid: --state is not the folder that contains the machines of this directory; those of open_provider
Result<OpenedProvider> open_machines(const Environment& environment, const Arguments& arguments, const ClusterDirectory& known,
                                     ProviderUse use = ProviderUse::existing_machines);

// Whether `create cluster` has begun to create machines for the directory. Users may create them themselves on any platform.
Result<bool> has_own_machines(const Environment& environment, const std::string& folder);

// The cluster that exists under the name of the directory's cluster. errors: those of find; invalid: metadata.json does not
// identify the cluster
Result<provider::ExistingCluster> find_machines(provider::Provider& machines, const ClusterDirectory& known);

// errors: also conflict: the machines with that name belong to another directory
Result<OpenedProvider> open_own_machines(const Environment& environment, const Arguments& arguments,
                                         const ClusterDirectory& known);

// The file with the path of the machines of a directory.
std::string machines_path(const std::string& folder);

// The file with the events of the cluster of a directory; `slipway timeline` reads it. After record_events all events are written
// to it.
std::string events_path(const std::string& folder);
void record_events(const Environment& environment, const std::string& folder);

// When the resources of the directory's cluster may be removed (RFC 3339); empty: not decided. It is decided once.
std::string expiry_path(const std::string& folder);

// Writes a copy of the cluster's state to the cluster, if slipway plans its resources. Logs a warning if that fails.
void keep_state_copy(const Environment& environment, const std::string& folder);

// --output json: events are written to standard output as lines, for programs.
Option events_option();
void print_events(const Environment& environment, const Arguments& arguments);

// Uses auth/kubeconfig of the directory.
Result<kube::Client> client_of(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
