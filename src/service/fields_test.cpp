#include "service/fields.h"

#include "service/records.h"

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

TEST(Fields, TakesWhatGeneratedClientsSend) {
  const Result<JsonObject> found = read_fields(
      R"({"vip_dhcp_allocation": false, "schedulable_masters": false, "network_type": "Calico", "platform": {"type": "none"},
          "cluster_network_host_prefix": 23, "ignition_endpoint": {"url": "https://a:22623/config/worker", "ca_certificate": ""}})",
      cluster_fields(), "cluster");
  ASSERT_TRUE(found.ok()) << found.error().message();
  const std::string message =
      read_fields(
          R"({"vip_dhcp_allocation": true, "schedulable_masters": 1, "network_type": "", "platform": {"type": "oci"},
          "cluster_network_cidr": "10.0.0.1/14", "cluster_network_host_prefix": 129, "api_vip_dns_name": "a b",
          "ignition_endpoint": {"url": "http://a", "ca_certificate": "x"}})",
          cluster_fields(), "cluster")
          .error()
          .message();
  for (const char* part : {"vip_dhcp_allocation: true is not supported", "schedulable_masters: must be a boolean",
                           "network_type: '' is not one of OVNKubernetes, OpenShiftSDN", "platform: type 'oci' is not supported",
                           "10.0.0.1/14 has host bits", "cluster_network_host_prefix: must be a number from 0 to 128",
                           "'a b' is no host name", "ignition_endpoint: url must be like https://"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(Fields, LoginsOfProxiesAreTakenKeptAndNeverShown) {
  const auto read = [](std::string_view body) { return read_fields(body, infra_env_fields(), "infra-env"); };
  const JsonObject known =
      read(R"({"proxy": {"http_proxy": "http://joe:p%40ss@proxy:3128", "https_proxy": "http://joe:p%40ss@proxy:3128",
                         "no_proxy": "a"}})")
          .value();
  EXPECT_EQ(emit_json(shown_value(infra_env_fields(), "proxy", known.at("proxy")), JsonStyle::compact),
            R"({"http_proxy":"http://proxy:3128","https_proxy":"http://proxy:3128","no_proxy":"a"})");
  // As it was shown: the login stays. Any other URL replaces it, with its own login or without one.
  JsonObject given =
      read(R"({"proxy": {"http_proxy": "http://proxy:3128", "https_proxy": "http://other:3128", "no_proxy": "b"}})").value();
  keep_logins(given, known, infra_env_fields());
  EXPECT_EQ(emit_json(given, JsonStyle::compact),
            R"({"proxy":{"http_proxy":"http://joe:p%40ss@proxy:3128","https_proxy":"http://other:3128","no_proxy":"b"}})");
  given = read_fields(R"({"http_proxy": "http://joe:new@proxy:3128"})", cluster_fields(), "cluster").value();
  keep_logins(given, {{"http_proxy", "http://joe:old@proxy:3128"}}, cluster_fields());
  EXPECT_EQ(text_of(given, {"http_proxy"}), "http://joe:new@proxy:3128");
  EXPECT_EQ(shown_value(cluster_fields(), "http_proxy", given.at("http_proxy")), Json("http://proxy:3128"));
  for (const char* body : {R"({"http_proxy": "joe:hunter2@proxy:3128"})", R"({"http_proxy": "http://joe:hunter2 @proxy"})"}) {
    const Error refused = read_fields(body, cluster_fields(), "cluster").error();
    EXPECT_EQ(refused.message().find("hunter2"), std::string::npos) << refused.message();
  }
}

TEST(Fields, RefusesOtherDocuments) {
  for (const char* body : {"", "[]", "7", "{", R"({"name": "a", "name": "b"})"}) {
    EXPECT_FALSE(read_fields(body, host_fields(), "host").ok()) << body;
  }
}

TEST(Fields, PartsOfRecordsLeaveRoomForTheRecord) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  const Json part = parse_part(nested(max_document_depth - 8), "output").value();
  HostRecord record;
  record.host.id = "h";
  record.outputs["inventory"] = part;
  record.overrides["ignition"] = part;
  EXPECT_TRUE(parse_json(emit_json(to_json(record), JsonStyle::compact), "record").ok());
  EXPECT_EQ(parse_part(nested(max_document_depth - 7), "output").error().message(), "output: nested deeper than 56 levels");
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
