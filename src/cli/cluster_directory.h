// What commands know of an asset directory from which a cluster was created: which cluster, its machines, its events.
#pragma once

#include "assets/assets.h"
#include "cli/command.h"
#include "kube/client.h"
#include "provider/providers.h"

#include <memory>
#include <string>
#include <string_view>

namespace slipway::cli {

// The cluster that an asset directory belongs to.
struct ClusterDirectory {
  std::string folder;
  std::string cluster;
  assets::ClusterId id;
  std::string platform{};  // empty: of machines that this program does not create
};

// From metadata.json. errors: not_found: there is none; invalid
Result<ClusterDirectory> read_cluster_directory(const Environment& environment, const std::string& folder);

// The provider of a cluster, and the folder of local clusters that it was opened with.
struct OpenedProvider {
  std::string state;
  std::unique_ptr<provider::Provider> machines;
};

// New machines are created only by commands that have the options for them.
enum class For { existing_machines, new_cluster };

// errors: invalid: --state is not the folder that has the machines of this directory; those of open_provider
Result<OpenedProvider> open_machines(const Environment& environment, const Arguments& arguments, const std::string& folder,
                                     std::string_view platform, const std::string& cluster, For use = For::existing_machines);

// What exists under the name of a directory's cluster. errors: those of find; invalid: metadata.json does not say which cluster
// it is
Result<provider::ExistingCluster> find_machines(const OpenedProvider& opened, const ClusterDirectory& known);

// errors: also conflict: the machines under that name are of another directory
Result<OpenedProvider> open_own_machines(const Environment& environment, const Arguments& arguments,
                                         const ClusterDirectory& known);

// The file that says where the machines of a directory are.
std::string machines_path(const std::string& folder);

// The file with the events of a directory's cluster, which `slipway timeline` reads; and from now on all events go there.
std::string events_path(const std::string& folder);
void keep_events(const Environment& environment, const std::string& folder);

// --output json: events as lines on standard output, for programs.
Option events_option();
void print_events(const Environment& environment, const Arguments& arguments);

// By the directory's auth/kubeconfig.
Result<kube::Client> client_of(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
