// Shows what makes an Ignition config large: the user data of most platforms has a limit.
#pragma once

#include "ignition/types.h"

#include <cstddef>
#include <string>
#include <vector>

namespace slipway::assets {

struct SizedEntry {
  std::string name;   // "/opt/openshift/tls/root-ca.key", "kubelet.service"
  std::size_t bytes;  // in the text of the config, with what stands around it

  bool operator==(const SizedEntry&) const = default;
};

// Files and units, largest first.
std::vector<SizedEntry> sized_entries(const ignition::Config& config);

// A table for people: the whole, and the largest entries with their share of it.
std::string size_report(const ignition::Config& config, std::size_t rows = 15);

}  // namespace slipway::assets
