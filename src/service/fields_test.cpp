#include "service/fields.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

TEST(Fields, KeepsWhatIsAllowed) {
  const Result<JsonObject> found = read_fields(
      R"({"name": "demo", "base_dns_domain": "example.com", "ssh_public_key": null, "api_vips": [{"ip": "fd00::1"}],
          "cluster_networks": [{"cidr": "10.128.0.0/14", "host_prefix": 23}], "control_plane_count": 1})",
      cluster_fields(), "cluster");
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->size(), 5u);
  EXPECT_FALSE(found->contains("ssh_public_key"));
  EXPECT_TRUE(is_secret(cluster_fields(), "pull_secret"));
  EXPECT_FALSE(is_secret(cluster_fields(), "name"));
}

TEST(Fields, SaysAllThatIsWrong) {
  const std::string message = read_fields(
                                  R"({"name": "Demo", "olm_operators": [], "control_plane_count": 2, "api_vips": [{"ip": "x"}],
          "machine_networks": [{"cidr": "10.0.0.1/24"}], "cluster_networks": [{"cidr": "10.0.0.0/8", "host_prefix": 40}],
          "cpu_architecture": "arm64", "user_managed_networking": "yes", "base_dns_domain": "a..b", "tags": "a\u0000b",
          "pull_secret": "{\"auths\": {}}"})",
                                  cluster_fields(), "cluster")
                                  .error()
                                  .message();
  for (const char* part :
       {"name: must have at most 54 lower-case letters", "olm_operators: this field is not supported",
        "2 masters are not supported (use 1 or 3)", "'x' is no IP address", "10.0.0.1/24 has host bits (use 10.0.0.0/24)",
        "host_prefix must be between 8 and 30", "'arm64' is not supported (use x86_64)",
        "user_managed_networking: must be a boolean", "'a..b' is no domain", "tags: must be printable",
        "pull_secret: has no registries in 'auths'"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(Fields, RefusesOtherDocuments) {
  for (const char* body : {"", "[]", "7", "{", R"({"name": "a", "name": "b"})"}) {
    EXPECT_FALSE(read_fields(body, host_fields(), "host").ok()) << body;
  }
}

TEST(Fields, KnowsUuids) {
  EXPECT_TRUE(is_uuid("5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22"));
  for (const char* text : {"", "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a2", "5F0C6B1E-9A1D-4C3E-8F3A-0B5F5F7C1A22",
                           "5f0c6b1e/9a1d/4c3e/8f3a/0b5f5f7c1a22"}) {
    EXPECT_FALSE(is_uuid(text)) << text;
  }
}

}  // namespace
}  // namespace slipway::service
