// The table of machines that may join the cluster, as the cluster keeps it: ConfigMap openshift-config/machine-addresses, whose
// key `machines` is a list in JSON (design 12.9). The installer writes it, `create worker` and `destroy worker` change it, the
// approver goes by it. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

inline constexpr std::string_view machine_table_space = "openshift-config";
inline constexpr std::string_view machine_table_name = "machine-addresses";

struct MachineRow {
  std::string name;
  std::string role;  // "master", "worker"
  std::vector<std::string> addresses;

  bool operator==(const MachineRow&) const = default;
};

// errors: invalid: no such key, rows without name or role
Result<std::vector<MachineRow>> machine_rows(const Json& config_map);

// The ConfigMap with these rows; whatever else it says stays.
Json with_machine_rows(Json config_map, const std::vector<MachineRow>& rows);

std::vector<std::string> names_with_role(const std::vector<MachineRow>& rows, std::string_view role);

}  // namespace slipway::cluster
