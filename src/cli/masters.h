// How commands run scripts on the masters of a cluster: through the provider, where it can, otherwise by SSH.
#pragma once

#include "cli/cluster_directory.h"
#include "cluster/backup.h"

#include <map>
#include <string>

namespace slipway::cli {

struct MastersAccess {
  OpenedProvider machines{};                 // null: by SSH
  std::map<std::string, std::string> hosts;  // SSH addresses by the name of a master
  cluster::RunOnMaster run{};                // refers to this object, so it must not move
};

// The option --key, private SSH keys of user core.
Option key_option();

// Fills `access` for the cluster of a directory.
//
//   hosts   addresses that the user gave; a master without one is reached at the address that the caller knows
//   errors  invalid: addresses or keys, although the machines are local; those of the provider
Result<> open_masters(const Environment& environment, const Arguments& arguments, const std::string& folder,
                      std::map<std::string, std::string> hosts, MastersAccess& access);

}  // namespace slipway::cli
