#include "provider/local/registry_access.h"

#include "base/json.h"
#include "provider/local/registry.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

const ClusterPaths paths{"/clusters/demo"};

ClusterConfig config_at(std::string address) {
  ClusterConfig config;
  config.host_address = std::move(address);
  return config;
}

struct World {
  testing_support::MemoryFiles files;
  sys::RealRandom random;
  config::InstallConfig config;
  assets::ClusterId id{"demo-x7k2p", ""};
  WallTime now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  net::Certificate authority =
      net::make_certificate(
          {.subject = {.common_name = "root-ca"}, .is_ca = true, .valid_from = now, .valid_for = std::chrono::hours(1)}, nullptr)
          .value();

  Result<> keep(bool can_sign = true) {
    return keep_registry_access(files, random, now, paths, "127.43.1.9",
                                {.config = config, .id = id, .authority = can_sign ? &authority : nullptr});
  }
};

TEST(RegistryAccess, IsMadeOnce) {
  World world;
  ASSERT_TRUE(world.keep().ok());
  const ImageRegistry first = registry_access(world.files, paths, config_at("127.43.1.9")).value().value();
  EXPECT_EQ(first.address, "127.43.1.9:5000");
  EXPECT_EQ(first.authority, world.authority.pem);
  EXPECT_EQ(first.password.reveal().size(), 32u);
  const std::string certificate = world.files.read(RegistryFiles(paths).certificate()).value();
  EXPECT_TRUE(net::is_signed_by(certificate, first.authority).value());
  EXPECT_EQ(net::parse_certificate(certificate)->ip_addresses, std::vector<std::string>{"127.43.1.9"});
  EXPECT_TRUE(world.files.read(RegistryFiles(paths).logins())->starts_with("slipway:$2"));
  ASSERT_TRUE(world.keep().ok());
  EXPECT_EQ(registry_access(world.files, paths, config_at("127.43.1.9"))->value().password, first.password);
}

TEST(RegistryAccess, UpstreamLoginsAreThoseOfTheConfig) {
  World world;
  world.config.pull_secret = Secret(R"({"auths":{"r.example.com":{"auth":"YTpi"}}})");
  ASSERT_TRUE(world.keep().ok());
  EXPECT_EQ(world.files.read(RegistryFiles(paths).upstream_logins()).value(), world.config.pull_secret.reveal());
  world.config.pull_secret = Secret();
  ASSERT_TRUE(world.keep().ok());
  EXPECT_EQ(world.files.read(RegistryFiles(paths).upstream_logins()).value(), "{}");
}

TEST(RegistryAccess, WithoutAnAuthorityTheCertificateIsItsOwn) {
  World world;
  ASSERT_TRUE(world.keep(false).ok());
  const std::string certificate = world.files.read(RegistryFiles(paths).certificate()).value();
  EXPECT_EQ(registry_access(world.files, paths, config_at("127.43.1.9"))->value().authority, certificate);
}

TEST(RegistryAccess, NobodyPushesToAClusterOfMachinesOnly) {
  World world;
  EXPECT_FALSE(has_registry_access(world.files, paths).value());
  EXPECT_FALSE(registry_access(world.files, paths, config_at("127.43.1.9")).value());
  ClusterConfig config;
  config.network = parse_network("10.97.77.0/24").value();
  const Json settings = parse_json(registry_settings(config, paths, false), "settings").value();
  EXPECT_EQ(find(settings, {"people"}), nullptr);
  EXPECT_EQ(require_string(settings, {"upstreamLogins"}).value(), "");
}

}  // namespace
}  // namespace slipway::provider::local
