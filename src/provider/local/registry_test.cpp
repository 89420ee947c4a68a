#include "provider/local/registry.h"

#include "base/yaml.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <cstdlib>
#include <filesystem>

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
}

TEST(Registry, StorageIsCopiedOnceByHardLinks) {
  const sys::TempDir folder = sys::TempDir::make("registry-test").value();
  testing_support::RealTimeContext context;
  sys::RealFiles files;
  sys::RealRunner runner;
  const std::string storage = folder.path() + "/storage", target = folder.path() + "/cluster/registry";
  ASSERT_TRUE(files.write(storage + "/docker/blob", "of the release", 0644).ok());
  ASSERT_TRUE(files.write(target + ".new/docker/blob", "of a copy that was killed", 0644).ok());
  ASSERT_TRUE(copy_registry_storage(context.context(), runner, files, storage, target).ok());
  EXPECT_TRUE(std::filesystem::equivalent(storage + "/docker/blob", target + "/docker/blob"));

  ASSERT_TRUE(files.remove(storage).ok());
  ASSERT_TRUE(copy_registry_storage(context.context(), runner, files, storage, target).ok());
  EXPECT_EQ(files.read(target + "/docker/blob").value(), "of the release");
}

}  // namespace
}  // namespace slipway::provider::local
