// What hosts of an assisted installation read from others: frames of their link, answers of time servers, instructions of the
// service and its arguments, and from the kernel: tables of the firmware, mounts.
#include "agent/connectivity.h"
#include "agent/disks.h"
#include "agent/instructions.h"
#include "agent/inventory.h"
#include "agent/medium.h"
#include "agent/name_checks.h"
#include "base/check.h"
#include "net/neighbors.h"
#include "net/sntp.h"

using namespace slipway;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto answer = net::parse_neighbor_answer(text)) {
    CHECK(net::parse_mac(net::to_string(answer->mac)).value() == answer->mac);
    CHECK(net::parse_ip(net::to_string(answer->address)).ok());
  }
  (void)net::parse_sntp_answer(text, text.substr(0, 8));
  (void)agent::installed_memory(text);
  (void)agent::medium_device(text);
  (void)agent::parse_mounts(text);
  (void)agent::parse_chrony_sources(text);
  if (const auto servers = agent::parse_time_servers(text); servers.ok()) {
    for (const std::string& server : servers.value()) CHECK(!server.starts_with('-'));
  }
  const Result<Json> json = parse_json(text, "input");
  if (!json.ok()) return 0;
  if (const auto instructions = agent::parse_instructions(json.value()); instructions.ok()) {
    CHECK(instructions->next >= Seconds(0));
    for (const agent::Instruction& step : instructions->steps) CHECK(!step.type.empty() && !step.id.empty());
  }
  (void)agent::parse_remote_hosts(json.value());
  if (const auto inventory = assist::parse_inventory(json.value(), "input"); inventory.ok()) {
    CHECK(assist::parse_inventory(assist::to_json(inventory.value()), "output").ok());
  }
  return 0;
}
