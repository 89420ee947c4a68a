#include "agent/addresses.h"
#include "agent/connectivity.h"
#include "agent/disk_checks.h"
#include "agent/installer.h"
#include "agent/inventory.h"
#include "agent/logs.h"
#include "agent/name_checks.h"
#include "agent/step.h"

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

Result<StepReply> report_inventory(const StepWorld& world, const Json&) {
  return json_reply(assist::to_json(read_inventory(world.tree, TRY(net::interface_addresses()))));
}

// Everything that a service can make a host do. There is no step that runs a command of the service's choice.
constexpr std::array steps = {
    Step{"inventory", report_inventory},
    Step{"connectivity-check", check_connectivity},
    Step{"free-network-addresses", find_free_addresses},
    Step{"verify-vips", verify_virtual_addresses},
    Step{"domain-resolution", resolve_domains},
    Step{"ntp-synchronizer", check_time_sources},
    Step{"api-vip-connectivity-check", check_api_connectivity},
    Step{"installation-disk-speed-check", check_disk_speed},
    Step{"container-image-availability", check_images},
    Step{"logs-gather", gather_logs},
    Step{"install", begin_installation},
    Step{"stop-installation", stop_installation},
};

}  // namespace

const Step* find_step(std::string_view type) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& each) { return each.type == type; });
  return found == steps.end() ? nullptr : &*found;
}

}  // namespace slipway::agent
