#include "kube/kubeconfig.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::kube {
namespace {

Result<Access> parse(std::string_view text, const std::map<std::string, std::string>& files = {}) {
  return parse_kubeconfig(text, "auth/kubeconfig", [&](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return error(Code::not_found, "reading {}: No such file or directory", path);
    return found->second;
  });
}

TEST(ReadKubeconfig, TakesTheFilesThatItNames) {
  testing_support::MemoryFiles files;
  Json config = make_kubeconfig({.server = "https://api:6443", .token = Secret("TOKEN")}, "demo", "admin");
  config.at("clusters").at(0).at("cluster").as_object()["certificate-authority"] = "/tls/ca.crt";
  ASSERT_TRUE(files.write("/auth/kubeconfig", emit_yaml(config), 0600).ok());
  const Result<Access> without = read_kubeconfig(files, "/auth/kubeconfig");
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message().find("/tls/ca.crt"), std::string::npos) << without.error().message();
  ASSERT_TRUE(files.write("/tls/ca.crt", "CA\n", 0644).ok());
  const Result<Access> read = read_kubeconfig(files, "/auth/kubeconfig");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->ca, "CA\n");
  EXPECT_EQ(read_kubeconfig(files, "/none").error().code(), Code::not_found);
}

TEST(MakeKubeconfig, ReadsBackAsTheSameAccess) {
  const Access access{.server = "https://api.demo.example.com:6443",
                      .ca = "CA\n",
                      .tls_server_name = "api-int.demo.example.com",
                      .client_certificate = "CERT\n",
                      .client_key = Secret("KEY\n"),
                      .token = Secret("TOKEN")};
  const Result<Access> read = parse(emit_yaml(make_kubeconfig(access, "demo", "admin")));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), access);
}

TEST(MakeKubeconfig, HasUpstreamsShape) {
  const Access access{.server = "https://localhost:6443", .ca = "CA", .client_certificate = "CERT", .client_key = Secret("KEY")};
  EXPECT_EQ(emit_yaml(make_kubeconfig(access, "demo", "loopback")), R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://localhost:6443
  name: demo
contexts:
- context:
    cluster: demo
    user: loopback
  name: loopback
current-context: loopback
kind: Config
preferences: {}
users:
- name: loopback
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
)");
}

TEST(ParseKubeconfig, ReadsFilesFromItsFolder) {
  const Result<Access> read = parse(R"(
clusters: [{name: c, cluster: {server: 'https://h:6443', certificate-authority: ca.crt}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {tokenFile: /var/run/token}}]
)",
                                    {{"auth/ca.crt", "CA"}, {"/var/run/token", "T\n"}});
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->ca, "CA");
  EXPECT_EQ(read->token, Secret("T"));
}

TEST(ParseKubeconfig, NamesEveryProblemWithItsPlaceAndNoSecret) {
  const Result<Access> read = parse(R"(clusters:
- name: c
  cluster: {insecure-skip-tls-verify: true, certificate-authority: nowhere.crt}
contexts:
- name: x
  context: {cluster: c, user: u}
users:
- name: u
  user:
    client-key-data: '?very-secret?'
    exec: {command: aws}
)");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::invalid);
  EXPECT_EQ(read.error().message(), R"(auth/kubeconfig:3:3: error: clusters[0].cluster.server: missing
auth/kubeconfig:3:13: error: clusters[0].cluster.insecure-skip-tls-verify: not allowed (use certificate-authority-data instead)
auth/kubeconfig:3:45: error: clusters[0].cluster.certificate-authority: reading auth/nowhere.crt: No such file or directory
auth/kubeconfig:10:5: error: users[0].user.client-key-data: not base64
auth/kubeconfig:11:5: error: users[0].user.exec: not supported (use a client certificate or a token))");
}

TEST(ParseKubeconfig, NeedsToKnowWhichContext) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"{}", "current-context: missing, but the file has 0 contexts"},
      {"contexts: [{name: a}, {name: b}]", "current-context: missing, but the file has 2 contexts"},
      {"{current-context: z, contexts: [{name: a}]}", "contexts: no entry with name 'z'"},
      {"contexts: [{context: {cluster: c, user: u}}]", "contexts[0].name: missing"},
      {"contexts: [{name: a, context: {cluster: c}}]", "contexts[0].context.user: missing"},
      {"contexts: [{name: a, context: {cluster: c, user: u}}]", "clusters: no entry with name 'c'"},
  };
  for (const Case& c : cases) {
    const Result<Access> read = parse(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_NE(read.error().message().find(c.message), std::string::npos) << read.error().message();
  }
}

}  // namespace
}  // namespace slipway::kube
