#include "provider/local/registry.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Registry, ServesAFolderThatNobodyCanChangeThroughIt) {
  const Json config = parse_yaml(registry_config("/run/slipway/registry", "10.97.77.1"), "registry.yaml").value().value;
  EXPECT_EQ(require_string(config, {"http", "addr"}).value(), "10.97.77.1:5000");
  EXPECT_TRUE(find(config, {"storage", "maintenance", "readonly", "enabled"})->get_bool());
  EXPECT_EQ(find(config, {"storage", "delete"}), nullptr);
}

TEST(Registry, MachinesAreSentToTheBridge) {
  EXPECT_EQ(
      hosts_toml("10.97.77.1"),
      "server = \"http://10.97.77.1:5000\"\n\n[host.\"http://10.97.77.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n");
  EXPECT_EQ(
      os_hosts_toml("10.97.77.1", "registry.demo:5443"),
      hosts_toml("10.97.77.1") + "\n[host.\"https://registry.demo:5443\"]\n  capabilities = [\"push\"]\n  ca = \"ca.crt\"\n");
}

}  // namespace
}  // namespace slipway::provider::local
