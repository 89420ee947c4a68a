#include "node/registry_access.h"

#include "ignition/data_url.h"
#include "machineconfig/registries.h"
#include "net/curl_http.h"
#include "node/containerd_hosts.h"
#include "support/fake_registry.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const std::string folder(containerd_hosts_folder);

std::string text_of(const ContainerdHost& host) {
  std::string text = fmt::format("{}{}{}",
                                 host.server.empty() ? "itself"
                                 : host.is_plain     ? "http://"
                                                     : "https://",
                                 host.server, host.path);
  for (const std::string& file : host.ca_files) text += " ca=" + file;
  if (host.skips_verification) text += " skip";
  if (!host.can_pull) text += " no-digests";
  if (!host.can_resolve) text += " no-tags";
  return text;
}

struct World {
  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(files.write(folder + "/" + name, text, 0644).ok()); }
  Result<release::RegistryOptions> read() { return registry_access(test.context(), files); }

  testing_support::MemoryFiles files;
  testing_support::TestContext test;
};

TEST(ParseContainerdHosts, ReadsServersInOrder) {
  struct Case {
    const char* name;
    std::string text;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"empty", "\xef\xbb\xbf# n\xc3\xb6thing\n", {"itself/v2"}},
      {"of the registry",
       "server = \"https://registry.example.com\"\nca = \"/etc/ca.crt\"\ncapabilities = [\"pull\"]\n",
       {"https://registry.example.com/v2 ca=/etc/ca.crt no-tags"}},
      {"order of the file",
       "[host.\"https://z.example.com\"]\n[host.\"https://a.example.com:5000\"]\n[host.\"https://m.example.com\"]\n",
       {"https://z.example.com/v2", "https://a.example.com:5000/v2", "https://m.example.com/v2", "itself/v2"}},
      {"inline tables",
       "host = {\"https://z\" = {skip_verify = true}, \"http://a\" = {capabilities = [\"resolve\", \"push\"]}}\n",
       {"https://z/v2 skip", "http://a/v2 no-digests", "itself/v2"}},
      {"paths",
       "[host.\"https://a/\"]\n[host.\"https://b/x/\"]\n[host.\"https://c/x/v2\"]\n[host.\"https://d/x/\"]\noverride_path = "
       "true\n"
       "[host.\"https://e\"]\noverride_path = true\n[host.\"F.example.com:443\"]\n[host.\"http://[::1]:5000\"]\n",
       {"https://a/v2", "https://b/x/v2", "https://c/x/v2", "https://d/x", "https://e", "https://f.example.com/v2",
        "http://[::1]:5000/v2", "itself/v2"}},
      {"authorities",
       "[host.\"https://a\"]\nca = [\"/etc/x.crt\", \"y.crt\"]\n",
       {"https://a/v2 ca=/etc/x.crt ca=/certs/y.crt", "itself/v2"}},
      {"unknown keys",
       "[host.\"https://a\"]\nclient = [[\"/c.crt\", \"/c.key\"]]\ndial_timeout = \"3s\"\n[host.\"https://a\".header]\nx = "
       "[\"y\"]\n",
       {"https://a/v2", "itself/v2"}},
  };
  for (const Case& c : cases) {
    const auto hosts = parse_containerd_hosts(c.text, "/certs/hosts.toml");
    ASSERT_TRUE(hosts.ok()) << c.name << ": " << hosts.error().message();
    std::vector<std::string> found;
    for (const ContainerdHost& host : hosts.value()) found.push_back(text_of(host));
    EXPECT_EQ(found, c.expected) << c.name;
  }
}

TEST(ParseContainerdHosts, NamesTheLineOfAMistake) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"server = \"a\nb\"\n", "/h.toml:1:12: "},
      {"\n[host.\"https://a\"\n", "/h.toml:2:18: "},
      {"a = 1\na = 2\n", "/h.toml:2:"},
      {"[/v2]\n", "/h.toml: is not TOML"},
      {"server = 1\n", "/h.toml:1:10: 'server' must be a string"},
      {"server = \"ftp://a\"\n", "/h.toml:1:"},
      {"host = 1\n", "/h.toml:1:8: 'host' must be a table"},
      {"[host]\na = 1\n", "/h.toml:2:5: 'host' must be a table of tables"},
      {"[host.\"https://a?b\"]\n", "/h.toml:1:1: 'https://a?b' must not have a query"},
      {"[host.\"https://a b\"]\n", "/h.toml:1:1: "},
      {"[host.a]\nca = 1\n", "/h.toml:2:6: 'ca' must be a string or a list of strings"},
      {"[host.a]\nca = [\"x\",\n  1]\n", "/h.toml:3:3: 'ca' must be a string or a list of strings"},
      {"[host.a]\nskip_verify = \"yes\"\n", "/h.toml:2:15: 'skip_verify' must be true or false"},
  };
  for (const Case& c : cases) {
    const auto hosts = parse_containerd_hosts(c.text, "/h.toml");
    ASSERT_FALSE(hosts.ok()) << c.text;
    EXPECT_EQ(hosts.error().code(), Code::invalid);
    EXPECT_TRUE(hosts.error().message().starts_with(c.message)) << c.text << hosts.error().message();
  }
}

TEST(RegistryAccess, IsThatOfTheRegistriesWithoutFiles) {
  World s;
  const auto options = s.read();
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_TRUE(options->endpoints.empty());
  EXPECT_FALSE(options->credentials.find({"quay.io", "a"}).has_value());
}

TEST(RegistryAccess, ReadsTheFilesOfAMachineConfig) {
  World s;
  const Json set = parse_json(R"({"kind": "ImageDigestMirrorSet", "spec": {"imageDigestMirrors": [
      {"source": "quay.io/a", "mirrors": ["mirror.example.com:5000/quay/a", "second.example.com/a"]}]}})",
                              "test")
                       .value();
  const auto configs = machineconfig::registry_configs("worker", {set}, "1", "/etc/mirror.crt").value();
  const auto& file = configs.at(0).config.storage.files.at(0);
  ASSERT_TRUE(s.files.write(file.path, ignition::decode_data_url(*file.contents.source).value(), 0644).ok());
  ASSERT_TRUE(s.files.write("/etc/mirror.crt", "mirror\n", 0644).ok());
  ASSERT_TRUE(s.files.write(std::string(system_authorities), "system", 0644).ok());
  const auto options = s.read();
  ASSERT_TRUE(options.ok()) << options.error().message();
  const auto& endpoints = options->endpoints.at("quay.io");
  ASSERT_EQ(endpoints.size(), 3u);
  EXPECT_EQ(endpoints[0].server, "mirror.example.com:5000");
  EXPECT_EQ(endpoints[0].path, "/v2/quay");
  EXPECT_EQ(endpoints[0].ca_pem, "system\nmirror\n");
  EXPECT_FALSE(endpoints[0].serves_tags);
  EXPECT_EQ(endpoints[1].server, "second.example.com");
  EXPECT_EQ(endpoints[1].ca_pem, endpoints[0].ca_pem);
  EXPECT_EQ(endpoints[2].server, "quay.io");
  EXPECT_TRUE(endpoints[2].serves_tags);
  EXPECT_EQ(options->endpoints.size(), 1u);
}

TEST(RegistryAccess, ReadsImagesThroughTheRegistryOfALocalCluster) {
  World s;
  testing_support::SampleRelease sample;
  testing_support::FakeRegistry registry;
  registry.fill(sample);
  // The text of provider::local::hosts_toml.
  const std::string text = fmt::format(
      "server = \"http://{0}\"\n\n[host.\"http://{0}\"]\n  capabilities = [\"pull\", \"resolve\"]\n", registry.host());
  s.write("registry.slipway.invalid/hosts.toml", text);
  s.write("_default/hosts.toml", text);
  net::CurlHttp http;
  release::RegistryClient client(http, s.read().value());
  for (const std::string host : {"registry.slipway.invalid", "quay.io"}) {
    const auto manifest = client.manifest(s.test.context(), {host, "slipway/release", "0.1.0"});
    ASSERT_TRUE(manifest.ok()) << manifest.error().message();
    EXPECT_EQ(registry.server.lines(), std::vector<std::string>{"GET /v2/slipway/release/manifests/0.1.0?ns=" + host});
    registry.server.forget();
  }
}

TEST(RegistryAccess, PushesToTheRegistryOfALocalCluster) {
  World s;
  // The text of provider::local::os_hosts_toml.
  s.write("registry.demo:5443/hosts.toml",
          "server = \"http://10.97.77.1:5000\"\n\n[host.\"http://10.97.77.1:5000\"]\n  capabilities = [\"pull\", \"resolve\"]\n\n"
          "[host.\"https://registry.demo:5443\"]\n  capabilities = [\"push\"]\n  ca = \"ca.crt\"\n");
  s.write("registry.demo:5443/ca.crt", "authority");
  const auto options = s.read();
  ASSERT_TRUE(options.ok()) << options.error().message();
  std::string found;
  for (const auto& endpoint : options->endpoints.at("registry.demo:5443"))
    found += fmt::format("{}({}){} ", endpoint.server, endpoint.ca_pem, endpoint.serves_digests || endpoint.serves_tags);
  EXPECT_EQ(found, "10.97.77.1:5000()true registry.demo:5443(authority)false 10.97.77.1:5000()true ");
}

TEST(RegistryAccess, KnowsTheNamesOfFolders) {
  World s;
  s.write("README", "a file");
  s.write("a.example.com:5000/hosts.toml", "server = \"https://colon\"\n");
  s.write("a.example.com_5000_/hosts.toml", "server = \"https://underscore\"\n");
  s.write("b_c/hosts.toml", "");
  s.write("docker.example.com/ca.crt", "authority");
  s.write("docker.example.com/client.cert", "unused");
  s.write("_default/hosts.toml", "[host.\"https://mirror\"]\nskip_verify = true\n[host.\"http://plain\"]\nskip_verify = true\n");
  const auto options = s.read();
  ASSERT_TRUE(options.ok()) << options.error().message();
  std::map<std::string, std::string> found;
  for (const auto& [registry, endpoints] : options->endpoints) {
    for (const auto& endpoint : endpoints) found[registry] += fmt::format("{}({}) ", endpoint.server, endpoint.ca_pem);
  }
  EXPECT_EQ(
      found,
      (std::map<std::string, std::string>{
          {"", "plain() () "}, {"a.example.com:5000", "underscore() "}, {"b_c", "() "}, {"docker.example.com", "(authority) "}}));
  EXPECT_EQ(s.test.logged(),
            std::vector<std::string>{"warning: " + folder +
                                     "/_default: mirror has skip_verify, which is not supported; not using it to "
                                     "read images"});
}

TEST(RegistryAccess, ReadsLogins) {
  World s;
  ASSERT_TRUE(s.files.write(std::string(kubelet_logins), R"({"auths": {"quay.io": {"auth": "YTpi"}}})", 0600).ok());
  EXPECT_EQ(s.read().value().credentials.find({"quay.io", "x"})->user, "a");
  ASSERT_TRUE(s.files.write(std::string(kubelet_logins), R"({"auths": {"quay.io": {"auth": "?"}}})", 0600).ok());
  EXPECT_EQ(s.read().error().code(), Code::invalid);
}

TEST(RegistryAccess, FailsWithoutAnAuthority) {
  World s;
  s.write("quay.io/hosts.toml", "ca = \"/etc/none.crt\"\n");
  EXPECT_EQ(s.read().error().message(), "reading /etc/none.crt: No such file or directory");
}

}  // namespace
}  // namespace slipway::node
