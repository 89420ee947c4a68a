#include "node/os_update/image_source.h"

#include "base/digest.h"
#include "machineconfig/os_build.h"
#include "net/curl_http.h"
#include "node/registry_access.h"
#include "support/fake_registry.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using testing_support::FakeRegistry;
using Seen = FakeRegistry::Seen;
using Reply = FakeRegistry::Reply;

const std::string path(machineconfig::os_image_source_file);

// A machine whose image is in a registry, and in the server that gave it its config. Both are on loopback and use no TLS.
struct World {
  World() {
    registry.fill(sample);
    server.fill(sample);
    server.alter_reply = [](const Seen& seen, Reply& reply) {
      if (seen.header("authorization") == "Basic " + base64_encode("slipway:t0ken")) return;
      reply = {.status = 401, .headers = {"WWW-Authenticate: Basic realm=\"slipway\""}};
    };
    const machineconfig::OsImageSource source = {
        .image = fmt::format("{}/slipway/release@{}", registry.host(), sample.release),
        .server = server.host(),
        .ca = "",
        .username = "slipway",
        .password = Secret("t0ken"),
    };
    (void)files.write(path, emit_json(machineconfig::to_json(source), JsonStyle::compact), 0600);
  }

  Result<release::RawManifest> read(const std::string& repository, bool by_tag = false) {
    const Result<release::RegistryOptions> options = registry_access(test.context(), files);
    if (!options.ok()) return options.error();
    release::RegistryClient client(http, options.value());
    release::Reference image{registry.host(), repository, by_tag ? "0.1.0" : ""};
    if (!by_tag) image.digest = release::Digest::parse(sample.release).value();
    return client.manifest(test.context(), image);
  }

  testing_support::SampleRelease sample;
  FakeRegistry registry, server;
  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  net::CurlHttp http;
};

TEST(OsImageSource, IsAskedFirstForItsRepositoryOnly) {
  World s;
  ASSERT_TRUE(s.read("slipway/release").ok());
  EXPECT_EQ(s.server.server.lines().size(), 2u) << "without a login, then with it";
  EXPECT_TRUE(s.registry.server.lines().empty());
  s.server.server.forget();
  ASSERT_TRUE(s.read("slipway/other").ok());
  ASSERT_TRUE(s.read("slipway/release", true).ok());
  EXPECT_TRUE(s.server.server.lines().empty());
  EXPECT_EQ(s.registry.server.lines().size(), 2u);
}

TEST(OsImageSource, TheRegistryIsAskedNext) {
  for (const int status : {404, 503}) {
    World s;
    s.server.alter_reply = [status](const Seen&, Reply& reply) { reply = {.status = status}; };
    const auto manifest = s.read("slipway/release");
    ASSERT_TRUE(manifest.ok()) << manifest.error().message();
    EXPECT_EQ(s.registry.server.lines().size(), 1u);
  }
}

TEST(OsImageSource, HasItsOwnAuthorityAndLogin) {
  World s;
  const machineconfig::OsImageSource source = {.image = "registry.example.com/team/os@sha256:" + std::string(64, 'a'),
                                               .server = "api-int.demo.example.com:22623",
                                               .ca = "PEM\n",
                                               .username = "slipway",
                                               .password = Secret("t0ken")};
  ASSERT_TRUE(s.files.write(path, emit_json(machineconfig::to_json(source), JsonStyle::compact), 0600).ok());
  const release::RegistryOptions options = registry_access(s.test.context(), s.files).value();
  ASSERT_EQ(options.mirrors.size(), 1u);
  EXPECT_EQ(options.mirrors[0].source, "registry.example.com/team/os");
  EXPECT_EQ(options.mirrors[0].mirrors, std::vector<std::string>{"api-int.demo.example.com:22623/team/os"});
  EXPECT_EQ(options.mirrors[0].ca_pem, "PEM\n");
  EXPECT_EQ(options.credentials.find({"api-int.demo.example.com:22623", "team/os"})->password, Secret("t0ken"));
  EXPECT_FALSE(options.credentials.find({"registry.example.com", "team/os"}).has_value());
}

TEST(OsImageSource, AMalformedFileIsAnErrorWithoutItsContent) {
  World s;
  ASSERT_TRUE(s.files.write(path, R"({"password": "t0ken"})", 0600).ok());
  const auto options = registry_access(s.test.context(), s.files);
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().code(), Code::invalid);
  EXPECT_NE(options.error().message().find(path), std::string::npos) << options.error().message();
  EXPECT_EQ(options.error().message().find("t0ken"), std::string::npos);
}

TEST(OsImageSource, IsRemoved) {
  World s;
  ASSERT_TRUE(remove_os_image_source(s.files).ok());
  EXPECT_FALSE(s.files.info(path).value().has_value());
  EXPECT_TRUE(remove_os_image_source(s.files).ok());
  EXPECT_TRUE(registry_access(s.test.context(), s.files)->mirrors.empty());
}

}  // namespace
}  // namespace slipway::node
