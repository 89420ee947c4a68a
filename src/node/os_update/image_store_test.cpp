#include "node/os_update/image_store.h"

#include "base/digest.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const std::string hex(64, '1');
const std::string image = "quay.io/team/os@sha256:" + hex;

TEST(ImageStore, WithoutMirrorsPodmanReadsTheFilesOfTheMachine) {
  const auto needed = pull_files({}, R"({"auths":{"quay.io":{"auth":"dTpw"}}})", image);
  ASSERT_TRUE(needed.ok()) << needed.error().message();
  EXPECT_EQ(needed->registries_conf, "");
  EXPECT_EQ(needed->logins, R"({"auths":{"quay.io":{"auth":"dTpw"}}})");
  EXPECT_TRUE(needed->authorities.empty());
  EXPECT_EQ(pull_files({}, "", image)->logins, R"({"auths":{}})");
}

TEST(ImageStore, MirrorsOfContainerdAndOfTheFirstBootBecomeMirrorsOfPodman) {
  release::RegistryOptions access;
  access.endpoints["quay.io"] = {{.server = "mirror.example:5000", .ca_pem = "PEM 1"}, {.server = ""}};
  access.mirrors = {{.source = "quay.io/team/os", .mirrors = {"api-int.example:22623/team/os"}, .ca_pem = "PEM 2"}};
  access.credentials.set("api-int.example:22623", {"master", Secret("token")});
  const auto needed = pull_files(access, R"({"auths":{"quay.io":{"auth":"dTpw"}}})", image);
  ASSERT_TRUE(needed.ok()) << needed.error().message();
  EXPECT_EQ(needed->registries_conf,
            "[[registry]]\nlocation = \"quay.io/team/os\"\n[[registry.mirror]]\nlocation = \"api-int.example:22623/team/os\"\n"
            "[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \"mirror.example:5000\"\n");
  EXPECT_EQ(needed->logins, R"({"auths":{"quay.io":{"auth":"dTpw"},"api-int.example:22623":{"auth":")" +
                                base64_encode("master:token") + R"("}}})");
  EXPECT_EQ(needed->authorities, (std::map<std::string, std::string>{{"0.crt", "PEM 1"}, {"1.crt", "PEM 2"}}));
}

TEST(ImageStore, LoginsThatAreBrokenAreRefusedWithoutTheirContent) {
  const auto refused = pull_files({}, R"(["secret"])", image);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "/var/lib/kubelet/config.json: must be an object");
}

TEST(ImageStore, PackagesHaveAFolderOfTheirImage) {
  EXPECT_EQ(packages_folder(image).value(), "/var/lib/slipway/extensions/" + hex);
  EXPECT_EQ(packages_folder("quay.io/team/os:latest").error().message(),
            "baseOSExtensionsContainerImage quay.io/team/os:latest has no digest");
}

}  // namespace
}  // namespace slipway::node
