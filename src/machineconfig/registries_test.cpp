#include "machineconfig/registries.h"

#include "ignition/data_url.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

Json mirror_set(std::string_view kind, std::string_view list, std::string_view source, JsonArray mirrors, JsonObject more = {}) {
  more["source"] = source;
  more["mirrors"] = std::move(mirrors);
  return {{"kind", kind}, {"metadata", {{"name", "m"}}}, {"spec", {{list, JsonArray{std::move(more)}}}}};
}

TEST(RegistryConfigs, ListTheMirrorsOfARegistryInTheirOrder) {
  const std::vector<Json> sets = {
      mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "r.example.com/a/b", {"m1:5000/a/b", "m2/x/a/b"}),
      mirror_set("ImageTagMirrorSet", "imageTagMirrors", "r.example.com/a/b", {"m2/x/a/b"}),
      mirror_set("ImageContentSourcePolicy", "repositoryDigestMirrors", "r.example.com", {"m3"})};
  const std::vector<MachineConfig> configs = registry_configs("master", sets, "1").value();
  ASSERT_EQ(configs.size(), 1u);
  EXPECT_EQ(configs[0].name, "99-master-generated-registries");
  const ignition::File& file = configs[0].config.storage.files.at(0);
  EXPECT_EQ(file.path, "/etc/containerd/certs.d/r.example.com/hosts.toml");
  EXPECT_EQ(ignition::decode_data_url(*file.contents.source).value(),
            R"(# Sources of images of r.example.com: mirrors from the cluster's image mirror sets, then the registry itself.
server = "https://r.example.com"

[host."https://m1:5000/v2"]
  capabilities = ["pull"]
  override_path = true

[host."https://m2/v2/x"]
  capabilities = ["pull", "resolve"]
  override_path = true

[host."https://m3/v2"]
  capabilities = ["pull"]
  override_path = true

)");
}

TEST(RegistryConfigs, AreNoneWithoutMirrors) { EXPECT_TRUE(registry_configs("master", {}, "1")->empty()); }

TEST(RegistryConfigs, RefuseWhatContainerdCannotDo) {
  for (const Json& set : {mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "r.example.com/a", {"m1/other"}),
                          mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "*.example.com", {"m1"}),
                          mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "..", {"m1"}),
                          mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "r.example.com", {"m1\"]\nx = 1"}),
                          mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "r.example.com", {"m1/\""}),
                          mirror_set("ImageDigestMirrorSet", "imageDigestMirrors", "r.example.com", {"m1"},
                                     {{"mirrorSourcePolicy", "NeverContactSource"}})}) {
    EXPECT_EQ(registry_configs("master", {set}, "1").error().code(), Code::invalid) << emit_json(set, JsonStyle::compact);
  }
}

}  // namespace
}  // namespace slipway::machineconfig
