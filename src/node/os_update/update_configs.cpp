#include "node/os_update/update_configs.h"

#include "node/config_disk.h"

#include <optional>
#include <utility>

namespace slipway::node {

using machineconfig::MachineConfig;

Result<UpdateConfigs> read_update_configs(const Environment& environment, Wanted wanted) {
  if (wanted == Wanted::first_config) {
    const Json object = TRY(parse_json(TRY(environment.files.read(first_config_file)), first_config_file));
    return UpdateConfigs{.running = {}, .wanted = TRY(machineconfig::parse_machine_config(object, first_config_file))};
  }
  ConfigDisk disk(environment);
  std::optional<MachineConfig> current = TRY(disk.current()), next = TRY(disk.next());
  if (!current || !next) return error(Code::not_found, "the machine has no {}", current ? "nextconfig" : "currentconfig");
  return UpdateConfigs{.running = std::move(*current), .wanted = std::move(*next)};
}

}  // namespace slipway::node
