#include "components/machine_config_operator/bootstrap_os_builds.h"

#include "base/digest.h"
#include "components/machine_config_operator/controller.h"
#include "machineconfig/os_build.h"

#include "support/operator_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::machine_config_operator {
namespace {

using machineconfig::OsBuild;
using machineconfig::OsImage;

const std::string base_image = "registry.example.com/release/os@sha256:" + std::string(64, '3');

std::string pool(std::string_view name) {
  return fmt::format(
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {{name: {0}}}\nspec:\n"
      "  machineConfigSelector: {{matchLabels: {{machineconfiguration.openshift.io/role: {0}}}}}\n",
      name);
}

struct OsConfigText {
  std::string pool = "master";
  std::string push_secret = "push";
  std::string base_pull_secret{};
  std::string prebuilt{};

  std::string text() const {
    std::string made = fmt::format(
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineOSConfig\nmetadata:\n  name: {0}\n{1}spec:\n"
        "  machineConfigPool: {{name: {0}}}\n  imageBuilder: {{imageBuilderType: Job}}\n"
        "  renderedImagePushSpec: registry.example.com/team/os:latest\n  renderedImagePushSecret: {{name: {2}}}\n",
        pool,
        prebuilt.empty() ? ""
                         : fmt::format("  annotations: {{machineconfiguration.openshift.io/pre-built-image: '{}'}}\n", prebuilt),
        push_secret);
    if (!base_pull_secret.empty()) made += fmt::format("  baseImagePullSecret: {{name: {}}}\n", base_pull_secret);
    return made + "  containerFile:\n  - content: |\n      FROM configs AS final\n      RUN touch /usr/share/mine\n";
  }
};

std::string secret(std::string_view name, std::string_view registry,
                   std::string_view space = "openshift-machine-config-operator") {
  const std::string logins = fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", registry, base64_encode("user:pass"));
  return fmt::format(
      "apiVersion: v1\nkind: Secret\nmetadata: {{name: {}, namespace: {}}}\ntype: kubernetes.io/dockerconfigjson\n"
      "data: {{.dockerconfigjson: {}}}\n",
      name, space, base64_encode(logins));
}

class OsBuildsTest : public testing::Test {
 protected:
  OsBuildsTest() {
    manifests["controllerconfig"] = emit_yaml(machineconfig::to_json(machineconfig::ControllerConfig{
        .version = "0.1.0",
        .platform = "local",
        .cluster_dns_ip = "172.30.0.10",
        .images = {{"machineConfigOperator", "mco@sha256:1"}, {"infraImageKey", "pod@sha256:2"}},
        .os_image = base_image,
        .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo:6443"}}}}}));
    for (const char* name : {"master", "worker"}) manifests[std::string("pool-") + name] = pool(name);
    manifests["user"] = R"(apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-motd
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.1.0}
    storage:
      files:
      - {path: /etc/motd, mode: 420, contents: {source: "data:,mine"}}
      - {path: /etc/password, mode: 384, contents: {source: "data:,hidden"}}
)";
    manifests["push"] = secret("push", "registry.example.com");
    manifests["pull"] = secret("pull", "other.example.com");
  }

  Result<RenderedFiles> render() {
    std::vector<YamlDocument> documents;
    for (const auto& [name, text] : manifests) {
      std::vector<YamlDocument> more = parse_yaml_documents(text, name + ".yaml").value();
      std::ranges::move(more, std::back_inserter(documents));
    }
    const Json pull_secret = {{"data", {{".dockerconfigjson", base64_encode(R"({"auths":{}})")}}}};
    return render_machine_config_pools(documents, pull_secret, "0.1.0");
  }

  std::map<std::string, std::string> manifests;
};

const RenderedFile* find_file(const RenderedFiles& files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &RenderedFile::path);
  return found == files.end() ? nullptr : &*found;
}

std::size_t place_of(const RenderedFiles& files, std::string_view path) {
  return static_cast<std::size_t>(std::ranges::find(files, path, &RenderedFile::path) - files.begin());
}

TEST_F(OsBuildsTest, WritesTheBuildOfAPoolOfTheControlPlaneBeforeThePools) {
  const Result<RenderedFiles> plain = render();
  ASSERT_TRUE(plain.ok()) << plain.error().message();
  const RenderedFiles& before = plain.value();
  manifests["os"] = OsConfigText().text();
  manifests["os-worker"] = OsConfigText{.pool = "worker"}.text();
  const Result<RenderedFiles> after = render();
  ASSERT_TRUE(after.ok()) << after.error().message();
  const RenderedFiles& files = after.value();
  for (const RenderedFile& file : before) {
    const RenderedFile* same = find_file(files, file.path);
    ASSERT_NE(same, nullptr) << file.path;
    EXPECT_EQ(*same, file);
  }
  for (const RenderedFile& file : files) {
    EXPECT_TRUE(find_file(before, file.path) || file.path.starts_with("os-builds/master/") ||
                file.path.starts_with("os-logins/master/"))
        << file.path;
  }
  const RenderedFile* logins = find_file(files, "os-logins/master/push.json");
  ASSERT_NE(logins, nullptr);
  EXPECT_EQ(logins->mode, 0600u);
  EXPECT_NE(logins->content.find("registry.example.com"), std::string::npos);
  EXPECT_EQ(find_file(files, "os-logins/master/pull.json"), nullptr);
  const RenderedFile* containerfile = find_file(files, "os-builds/master/Containerfile");
  ASSERT_NE(containerfile, nullptr);
  EXPECT_NE(containerfile->content.find("RUN touch /usr/share/mine"), std::string::npos);
  ASSERT_NE(find_file(files, "os-builds/master/root/etc/motd"), nullptr);
  EXPECT_EQ(find_file(files, "os-builds/master/root/etc/motd")->content, "mine");
  EXPECT_EQ(find_file(files, "os-builds/master/root/etc/password"), nullptr);
  const std::string path = "os-builds/master/build.json";
  const OsBuild build = machineconfig::parse_os_build(parse_json(find_file(files, path)->content, path).value(), path).value();
  EXPECT_EQ(build.pool, "master");
  EXPECT_EQ(build.base_image, base_image);
  EXPECT_EQ(build.repository, "registry.example.com/team/os");
  EXPECT_TRUE(build.name.starts_with("master-"));
  EXPECT_TRUE(build.rendered.starts_with("rendered-master-"));
  for (const RenderedFile& file : files) {
    EXPECT_TRUE(!file.path.starts_with("os-builds/") || place_of(files, file.path) <= place_of(files, path)) << file.path;
  }
  EXPECT_LT(place_of(files, path), place_of(files, "machine-pools/master.yaml"));
}

TEST_F(OsBuildsTest, WritesTheLoginsOfANamedPullSecret) {
  manifests["os"] = OsConfigText{.base_pull_secret = "pull"}.text();
  const Result<RenderedFiles> files = render();
  ASSERT_TRUE(files.ok()) << files.error().message();
  const RenderedFile* logins = find_file(files.value(), "os-logins/master/pull.json");
  ASSERT_NE(logins, nullptr);
  EXPECT_EQ(logins->mode, 0600u);
  EXPECT_NE(logins->content.find("other.example.com"), std::string::npos);
}

TEST_F(OsBuildsTest, APreBuiltImageIsRecordedWithoutABuild) {
  const std::string image = "registry.example.com/team/other@sha256:" + std::string(64, 'b');
  manifests["os"] = OsConfigText{.prebuilt = image}.text();
  const Result<RenderedFiles> files = render();
  ASSERT_TRUE(files.ok()) << files.error().message();
  const std::string path = "os-images/master/image.json";
  const RenderedFile* file = find_file(files.value(), path);
  ASSERT_NE(file, nullptr);
  const OsImage record = machineconfig::parse_os_image(parse_json(file->content, path).value(), path).value();
  EXPECT_EQ(record.image(), image);
  EXPECT_TRUE(record.is_pushed);
  EXPECT_LT(place_of(files.value(), path), place_of(files.value(), "machine-pools/master.yaml"));
  for (const RenderedFile& each : files.value()) EXPECT_FALSE(each.path.starts_with("os-builds/")) << each.path;
}

TEST_F(OsBuildsTest, ReportsAllProblemsTogether) {
  manifests["os"] = OsConfigText{.push_secret = "absent"}.text();
  manifests["os-2"] = OsConfigText{.base_pull_secret = "gone"}.text();
  manifests["os-infra"] = OsConfigText{.pool = "infra", .push_secret = "pull"}.text();
  manifests["elsewhere"] = secret("absent", "registry.example.com", "default");
  const Result<RenderedFiles> files = render();
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code(), Code::invalid);
  for (const char* part : {"os.yaml:", "Secret 'absent' is not in the manifests", "Secret 'gone' is not in the manifests",
                           "pool 'master' already has a MachineOSConfig in os.yaml", "MachineConfigPool 'infra' is not in",
                           "Secret 'pull' has no login for 'registry.example.com/team/os'"}) {
    EXPECT_NE(files.error().message().find(part), std::string::npos) << part << "\n" << files.error().message();
  }
}

TEST_F(OsBuildsTest, AConfigWithoutABaseImageCannotBeBuilt) {
  manifests["os"] = OsConfigText().text();
  manifests["base"] =
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-os\n"
      "  labels: {machineconfiguration.openshift.io/role: master}\nspec: {osImageURL: 'registry.example.com/os:1'}\n";
  const Result<RenderedFiles> files = render();
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message().find("os.yaml: "), std::string::npos) << files.error().message();
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
