#include "provider/local/registry_access.h"

#include "base/json.h"
#include "provider/local/registry.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

const ClusterPaths paths{"/clusters/demo"};

constexpr const char* os_registry = "registry.demo.example.com:5443";

ClusterConfig config_at(std::string address) {
  ClusterConfig config;
  config.host_address = std::move(address);
  config.network = parse_network("10.97.77.0/24").value();
  config.os_registry = os_registry;
  return config;
}

JsonArray listened(const ClusterConfig& config, bool takes_pushes) {
  JsonArray addresses;
  for (const std::string& word : own_registry_command(config, paths, takes_pushes)) {
    constexpr std::string_view option = "--listen=";
    if (word.starts_with(option)) addresses.emplace_back(word.substr(option.size()));
  }
  return addresses;
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

  Secret wanted;

  Result<> keep(bool can_sign = true) { return keep_for(config_at("127.43.1.9"), can_sign); }
  Result<> keep_for(const ClusterConfig& cluster, bool can_sign = true) {
    return keep_registry_access(
        files, random, now, paths, cluster,
        {.config = config, .id = id, .authority = can_sign ? &authority : nullptr, .os_registry_login = wanted});
  }
  ImageRegistry access(const ClusterConfig& cluster = config_at("127.43.1.9")) {
    return registry_access(files, paths, cluster).value().value();
  }
};

TEST(RegistryAccess, IsMadeOnce) {
  World world;
  ASSERT_TRUE(world.keep().ok());
  const ImageRegistry first = world.access();
  EXPECT_EQ(first.people.address, "127.43.1.9:5000");
  EXPECT_EQ(first.authority, world.authority.pem);
  EXPECT_EQ(first.people.password.reveal().size(), 32u);
  ASSERT_TRUE(first.machines);
  EXPECT_EQ(first.machines->address, os_registry);
  EXPECT_EQ(first.machines->user, "os-builder");
  EXPECT_EQ(first.machines->password.reveal().size(), 32u);
  EXPECT_NE(first.machines->password, first.people.password);
  const std::string certificate = world.files.read(RegistryFiles(paths).certificate()).value();
  EXPECT_TRUE(net::is_signed_by(certificate, first.authority).value());
  EXPECT_EQ(net::parse_certificate(certificate)->ip_addresses, std::vector<std::string>{"127.43.1.9"});
  EXPECT_EQ(net::parse_certificate(certificate)->dns_names, std::vector<std::string>{"registry.demo.example.com"});
  EXPECT_TRUE(world.files.read(RegistryFiles(paths).logins())->starts_with("slipway:$2"));
  EXPECT_TRUE(world.files.read(RegistryFiles(paths).os_logins())->starts_with("os-builder:{SHA256}"));
  EXPECT_EQ(push_authority(world.files, paths, config_at("127.43.1.9")).value(), world.authority.pem);
  ASSERT_TRUE(world.keep().ok());
  EXPECT_EQ(world.access().people.password, first.people.password);
  EXPECT_EQ(world.access().machines->password, first.machines->password);
}

TEST(RegistryAccess, TheLoginOfMachinesMayBeGiven) {
  World world;
  world.wanted = Secret(R"({"auths":{"registry.demo.example.com:5443":{"auth":"YnVpbGQ6c2VjcmV0"}}})");  // build:secret
  ASSERT_TRUE(world.keep().ok());
  EXPECT_EQ(world.access().machines->user, "build");
  EXPECT_EQ(world.access().machines->password.reveal(), "secret");
  EXPECT_EQ(world.access().people.user, "slipway");
  for (const char* wrong : {R"({"auths":{"other.example.com:5443":{"auth":"YnVpbGQ6c2VjcmV0"}}})", "no JSON"}) {
    World other;
    other.wanted = Secret(wrong);
    const Result<> refused = other.keep();
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(refused.error().message().starts_with("auth/os-registry.json:")) << refused.error().message();
  }
}

// The registry program of such a cluster does not know the setting.
TEST(RegistryAccess, MachinesOfAnOlderClusterPushNothing) {
  World world;
  ClusterConfig older = config_at("127.43.1.9");
  older.os_registry.clear();
  ASSERT_TRUE(world.keep_for(older).ok());
  EXPECT_FALSE(world.access(older).machines);
  EXPECT_EQ(push_authority(world.files, paths, older).value(), "");
  EXPECT_FALSE(world.files.info(RegistryFiles(paths).os_logins()).value());
  const Json settings = parse_json(registry_settings(older, paths, true), "settings").value();
  EXPECT_EQ(find(settings, {"builders"}), nullptr);
  EXPECT_EQ(listened(older, true), (JsonArray{"10.97.77.1:5000", "127.0.0.1:5001"}));
}

TEST(RegistryAccess, TheRegistryHasASocketForEachSide) {
  const ClusterConfig config = config_at("127.43.1.9");
  const Json settings = parse_json(registry_settings(config, paths, true), "settings").value();
  EXPECT_EQ(listened(config, true), (JsonArray{"10.97.77.1:5000", "127.0.0.1:5001", "10.97.77.1:5443"}));
  EXPECT_EQ(find(settings, {"machinesSocket"})->get_int64(), 20);
  EXPECT_EQ(find(settings, {"people", "socket"})->get_int64(), 21);
  EXPECT_EQ(find(settings, {"builders", "socket"})->get_int64(), 22);
  EXPECT_EQ(require_string(settings, {"builders", "name"}).value(), os_registry);
  EXPECT_EQ(require_string(settings, {"builders", "logins"}).value(), RegistryFiles(paths).os_logins());
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
  const ClusterConfig config = config_at("127.43.1.9");
  EXPECT_EQ(push_authority(world.files, paths, config).value(), "");
  const Json settings = parse_json(registry_settings(config, paths, false), "settings").value();
  EXPECT_EQ(find(settings, {"people"}), nullptr);
  EXPECT_EQ(find(settings, {"builders"}), nullptr);
  EXPECT_EQ(require_string(settings, {"upstreamLogins"}).value(), "");
}

}  // namespace
}  // namespace slipway::provider::local
