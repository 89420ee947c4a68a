#include "machineconfig/os_config.h"

#include "base/digest.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::machineconfig {
namespace {

const std::string good = R"(apiVersion: machineconfiguration.openshift.io/v1
kind: MachineOSConfig
metadata:
  name: master
spec:
  machineConfigPool: {name: master}
  imageBuilder: {imageBuilderType: Job}
  renderedImagePushSpec: registry.example.com:5000/team/os:latest
  renderedImagePushSecret: {name: push}
  containerFile:
    - content: |
        FROM configs AS final
        RUN true
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string problems(const std::string& text) {
  Findings findings;
  read_os_config(parse_yaml(text, "a.yaml").value(), findings);
  return findings.to_text();
}

TEST(OsConfig, IsRead) {
  const OsConfig config = parse_os_config(parse_yaml(good, "a").value().value, "a").value();
  EXPECT_EQ(config.pool, "master");
  EXPECT_EQ(config.repository(), "registry.example.com:5000/team/os");
  EXPECT_EQ(config.registry(), "registry.example.com:5000");
  EXPECT_EQ(config.push_secret, "push");
  EXPECT_EQ(config.containerfile, "FROM configs AS final\nRUN true\n");
  EXPECT_EQ(parse_os_config(
                parse_yaml(replaced(good, "    - content: |\n        FROM configs AS final\n        RUN true\n", "    []\n"), "a")
                    .value()
                    .value,
                "a")
                .value()
                .containerfile,
            "");
}

TEST(OsConfig, FindingsHaveTheirPlaces) {
  const std::string push = "registry.example.com:5000/team/os:latest";
  const std::string hint = " (like registry.example.com/team/os:latest)\n";
  const auto spec = [&](const std::string& value, const std::string& why) {
    return std::pair(replaced(good, push, value),
                     fmt::format("a.yaml:8:3: error: spec.renderedImagePushSpec: {} {}{}", value, why, hint));
  };
  const std::vector<std::pair<std::string, std::string>> rows = {
      {good, ""},
      {replaced(good, "  name: master\nspec", "  name: other\nspec"),
       "a.yaml:4:3: error: metadata.name: is other, the name of its pool is master (use the name of the pool)\n"},
      {replaced(good, "Job", "Pod"), "a.yaml:7:18: error: spec.imageBuilder.imageBuilderType: is not Job\n"},
      {replaced(good, "  renderedImagePushSecret: {name: push}\n", ""),
       "a.yaml:5:1: error: spec.renderedImagePushSecret.name: is missing\n"},
      {replaced(good, "  containerFile", "  more: 1\n  containerFile"),
       "a.yaml:10:3: error: spec.more: is not a field of a MachineOSConfig\n"},
      {replaced(good, "RUN true", "RUM true"),
       "a.yaml:13:1: error: spec.containerFile[0].content: unknown instruction rum (did you mean run?)\n"},
      spec("registry.example.com/team/os", "has no tag"),
      spec("localhost:5000/os:1", "does not begin with a registry whose host has a dot"),
      spec("os:1", "has no tag"),
      spec("registry.example.com/a/b/os:1",
           "has more than one part between registry and name, so the API could not store the result"),
      spec("registry.example.com/Team/os:1",
           "has the part 'Team', which is not up to 61 of the characters a-z, 0-9 and, within, '_' and '-'"),
      spec("registry.example.com/my.team/os:1",
           "has the part 'my.team', which is not up to 61 of the characters a-z, 0-9 and, within, '_' and '-'"),
      spec("registry.example.com/team/os-:1",
           "has the name 'os-', which is not made of the characters a-z, 0-9 and, within, '.', '_' and '-'"),
      spec("10.0.0.1:5/os:1", "does not begin with a registry whose host has a dot"),
      spec("registry.example.com/os:a/b", "has no tag"),
      spec("images.tools.svc:5000/team/os:1",
           "is in a Service of the cluster, whose name neither the bootstrap machine nor the nodes resolve"),
      spec("images.tools.svc.cluster.local/os:1",
           "is in a Service of the cluster, whose name neither the bootstrap machine nor the nodes resolve"),
      spec("registry.example.com/os@sha256:ab", "has a digest, which only the result of a build has"),
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(problems(text), expected) << text;
  for (const std::string value :
       {"10.0.0.1:5000/os:1", "registry.example.com/team/os:v1_2.3-4", "registry.example.com/a_b-c/my.os:1", "r.e/os:latest"})
    EXPECT_EQ(problems(replaced(good, push, value)), "") << value;
}

TEST(OsConfig, ThePrebuiltImageHasADigest) {
  const auto with = [](const std::string& image) {
    return problems(
        replaced(good, "  name: master\nspec",
                 fmt::format("  name: master\n  annotations: {{\"{}\": \"{}\"}}\nspec", prebuilt_image_annotation, image)));
  };
  const std::string digest = "@sha256:" + std::string(64, 'a');
  EXPECT_EQ(with("registry.example.com/team/os" + digest), "");
  EXPECT_NE(with("registry.example.com/team/os:latest").find("has no digest"), std::string::npos);
  EXPECT_NE(with("registry.example.com/team/os:latest" + digest).find("has a tag beside the digest"), std::string::npos);
  EXPECT_NE(with("registry.example.com/team/os@sha256:abc").find("64 hexadecimal characters"), std::string::npos);
}

TEST(OsConfig, NewMachinesMayWaitForTheFirstImage) {
  const auto with = [](const std::string& value) {
    return replaced(good, "  name: master\nspec",
                    fmt::format("  name: master\n  annotations: {{\"{}\": \"{}\"}}\nspec", first_boot_annotation, value));
  };
  EXPECT_EQ(problems(with("Immediate")), "");
  EXPECT_EQ(problems(with("Hold")), "");
  EXPECT_NE(problems(with("hold")).find("hold is not known (use Hold or Immediate)"), std::string::npos)
      << problems(with("hold"));
  const auto holds = [&](const std::string& text) {
    return parse_os_config(parse_yaml(text, "a.yaml").value().value, "a.yaml").value().holds_first_boot;
  };
  EXPECT_TRUE(holds(with("Hold")));
  EXPECT_FALSE(holds(with("Immediate")));
  EXPECT_FALSE(holds(good));
}

Json secret(const std::string& type, const std::string& key, const std::string& text) {
  return {{"metadata", {{"name", "push"}}}, {"type", type}, {"data", {{key, base64_encode(text)}}}};
}

TEST(OsConfig, LoginsOfSecrets) {
  const std::string modern = "kubernetes.io/dockerconfigjson", old = "kubernetes.io/dockercfg",
                    login = base64_encode("user:word");
  const std::string inner = R"({"registry.example.com/team":{"auth":")" + login + R"("}})";
  const std::string whole = R"({"auths":)" + inner + "}";
  for (const Json& each : {secret(modern, ".dockerconfigjson", whole), secret(modern, ".dockerconfigjson", inner),
                           secret(old, ".dockercfg", inner), secret(old, ".dockercfg", whole)}) {
    const Result<Secret> logins = logins_of(each);
    ASSERT_TRUE(logins.ok()) << logins.error().message();
    EXPECT_EQ(logins->reveal(), whole);
    EXPECT_TRUE(has_login(logins.value(), "registry.example.com/team/os"));
    EXPECT_FALSE(has_login(logins.value(), "registry.example.com/teams/os"));
    EXPECT_FALSE(has_login(logins.value(), "registry.example.com:5000/team/os"));
  }
  const std::vector<std::pair<Json, std::string>> wrong = {
      {secret("Opaque", ".dockerconfigjson", whole),
       "Secret push: type is 'Opaque', not kubernetes.io/dockerconfigjson (make it with kubectl create secret docker-registry)"},
      {secret(modern, "other", whole), "Secret push: .dockerconfigjson is not a JSON object"},
      {secret(modern, ".dockerconfigjson", "geheim"), "Secret push: .dockerconfigjson is not a JSON object"},
      {secret(modern, ".dockerconfigjson", "{}"), "Secret push: .dockerconfigjson has no logins"},
      {secret(modern, ".dockerconfigjson", R"({"auths":{"a.b":{"auth":"geheim"}}})"),
       "Secret push: the login for a.b has neither auth nor username and password"},
  };
  for (const auto& [object, message] : wrong) EXPECT_EQ(logins_of(object).error().message(), message);
}

}  // namespace
}  // namespace slipway::machineconfig
