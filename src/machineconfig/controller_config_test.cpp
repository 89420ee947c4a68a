#include "machineconfig/controller_config.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

TEST(ControllerConfig, ReadsBackWhatWasWritten) {
  const ControllerConfig config{
      .version = "0.1.0",
      .release_image = "r@sha256:0",
      .platform = "local",
      .cluster_dns_ip = "172.30.0.10",
      .ip_families = "IPv4",
      .network_type = "Flannel",
      .cloud_provider_config = "[x]",
      .root_ca = "root\n",
      .kubelet_client_ca = "kubelet\n",
      .cloud_provider_ca = "cloud\n",
      .additional_trust_bundle = "bundle\n",
      .images = {{"infraImageKey", "pod@sha256:1"}},
      .os_image = "os@sha256:2",
      .extensions_image = "e@sha256:3",
      .api_vips = {"10.0.0.5", "fd00::5"},
      .ingress_vips = {"10.0.0.7"},
      .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo.example.com:6443"}}}},
      .dns = {{"kind", "DNS"}},
      .proxy = {{"httpProxy", "http://p"}}};
  const Result<ControllerConfig> read = parse_controller_config(to_json(config), "x");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), config);
  EXPECT_EQ(read->internal_api_url(), "https://api-int.demo.example.com:6443");
}

TEST(ControllerConfig, NamesEveryProblem) {
  const Json bad = {{"spec", {{"rootCAData", "%"}, {"clusterDNSIP", 5}, {"images", {{"infraImageKey", 7}}}}}};
  const std::string message = parse_controller_config(bad, "c.yaml").error().message();
  for (const char* part : {"spec.rootCAData", "spec.clusterDNSIP", "spec.images.infraImageKey"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in:\n" << message;
  }
}

}  // namespace
}  // namespace slipway::machineconfig
