// Lists the largest entries of an Ignition config. Most platforms limit the size of user data.
#pragma once

#include "ignition/types.h"

#include <cstddef>
#include <string>
#include <vector>

namespace slipway::assets {

struct SizedEntry {
  std::string name;   // "/opt/openshift/tls/root-ca.key", "kubelet.service"
  std::size_t bytes;  // in the text of the config, including the JSON around the content

  bool operator==(const SizedEntry&) const = default;
};

// Files and units, largest first.
std::vector<SizedEntry> sized_entries(const ignition::Config& config);

// A text table: the total size, and the largest entries with their percentage of it.
std::string size_report(const ignition::Config& config, std::size_t rows = 15);

}  // namespace slipway::assets
