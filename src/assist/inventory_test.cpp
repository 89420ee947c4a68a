#include "assist/inventory.h"

#include "assist/test_hosts.h"

#include <gtest/gtest.h>

namespace slipway::assist {
namespace {

TEST(Inventory, ReadsWhatItWrites) {
  Inventory inventory = test_inventory("host-1");
  inventory.gpus = {"GA100"};
  inventory.tpm_version = "2.0";
  inventory.interfaces[0].addresses.push_back(net::parse_cidr("fd00::5/64").value());
  inventory.disks.push_back({.id = "sr0", .name = "sr0", .path = "/dev/sr0", .drive_type = "ODD", .reasons = {"it is a drive"}});
  inventory.routes.push_back({.interface = "ens3", .destination = "fd00::", .prefix = 64, .metric = 100});
  EXPECT_EQ(parse_inventory(to_json(inventory), "inventory").value(), inventory);
}

TEST(Inventory, SaysAllThatIsWrong) {
  const Json value = parse_json(R"({"hostname": 7, "cpu": {"count": -1}, "memory": [], "disks": [{"size_bytes": "1"}],
                                    "interfaces": [{"ipv4_addresses": ["fd00::1/64", "x"]}], "routes": {}})",
                                "test")
                         .value();
  const std::string message = parse_inventory(value, "inventory of host 1").error().message();
  for (const char* part :
       {"inventory of host 1", "hostname: must be a string, is a number", "cpu.count: must be a number",
        "memory: must be an object, is a list", "disks[0].size_bytes: must be a number",
        "interfaces[0].ipv4_addresses: 'fd00::1/64' is no IPv4 address", "'x' is no IPv4 address", "routes: must be a list"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(Inventory, MayBeEmpty) {
  EXPECT_TRUE(parse_inventory(JsonObject{}, "inventory").ok());
  EXPECT_FALSE(parse_inventory("text", "inventory").ok());
}

}  // namespace
}  // namespace slipway::assist
