#include "components/etcd/render.h"

#include "base/yaml.h"
#include "net/curl_http.h"
#include "support/memory_files.h"
#include "support/one_address.h"
#include "support/render_assets.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::etcd {
namespace {

struct World {
  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  sys::Context context = test.context();
  testing_support::OneAddress runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  Environment environment{context, files, runner, random, http, [](std::string_view) {}};

  explicit World(const testing_support::RenderAssets& assets = {}) {
    EXPECT_TRUE(testing_support::put_render_assets(files, "/assets", assets).ok());
    EXPECT_TRUE(files.write("/proc/sys/kernel/hostname", "bootstrap\n", 0644).ok());
  }
  Result<> render() {
    return run_render(environment, {"--asset-output-dir=/out", "--etcd-image=registry.example.com/etcd@sha256:1",
                                    "--network-config-file=/assets/manifests/cluster-network-02-config.yml",
                                    "--cluster-configmap-file=/assets/manifests/cluster-config.yaml",
                                    "--infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml"});
  }
  Json document(const std::string& path) { return parse_yaml(files.read(path).value(), path).value().value; }
  // "MODE PATH" of every file below the output folder.
  std::vector<std::string> tree() {
    std::vector<std::string> lines;
    list("/out", lines);
    std::ranges::sort(lines, {}, [](const std::string& line) { return line.substr(5); });
    return lines;
  }

 private:
  void list(const std::string& folder, std::vector<std::string>& lines) {
    const std::vector<std::string> names = files.list(folder).value();
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      const sys::FileInfo info = *files.info(path).value();
      if (info.kind == sys::FileKind::directory)
        list(path, lines);
      else
        lines.push_back(fmt::format("{:04o} {}", info.mode, path.substr(5)));
    }
  }
};

const std::vector<std::string> tree = {
    "0644 etc-kubernetes/manifests/etcd-member-pod.yaml",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/ca.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-client.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-client.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-metric-client.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-metric-client.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-metric-signer.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-metric-signer.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-peer-bootstrap.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-peer-bootstrap.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-bootstrap.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-bootstrap.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-metrics-bootstrap.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-metrics-bootstrap.key",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-signer.crt",
    "0600 etc-kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-signer.key",
    "0644 manifests/00_etcd-endpoints-cm.yaml",
    "0644 manifests/00_openshift-etcd-ns.yaml",
    "0644 manifests/openshift-etcd-etcd-all-bundles.yaml",
    "0600 manifests/openshift-etcd-etcd-all-certs.yaml",
    "0644 manifests/openshift-etcd-etcd-ca-bundle.yaml",
    "0600 manifests/openshift-etcd-etcd-client.yaml",
    "0600 manifests/openshift-etcd-etcd-metric-client.yaml",
    "0600 manifests/openshift-etcd-etcd-metric-signer.yaml",
    "0644 manifests/openshift-etcd-etcd-metrics-ca-bundle.yaml",
    "0600 manifests/openshift-etcd-etcd-peer-bootstrap.yaml",
    "0600 manifests/openshift-etcd-etcd-serving-bootstrap.yaml",
    "0600 manifests/openshift-etcd-etcd-serving-metrics-bootstrap.yaml",
    "0600 manifests/openshift-etcd-etcd-signer.yaml",
    "0644 manifests/openshift-etcd-svc.yaml",
    "0600 tls/etcd-ca-bundle.crt",
    "0600 tls/etcd-client.crt",
    "0600 tls/etcd-client.key",
};

TEST(EtcdRender, WritesTheTreeEachTime) {
  World world;
  for (int run = 0; run < 2; ++run) {
    const Result<> rendered = world.render();
    ASSERT_TRUE(rendered.ok()) << rendered.error().message();
    EXPECT_EQ(world.tree(), tree);
  }
}

TEST(EtcdRender, AdvertisesTheMembersOwnAddress) {
  World world;
  ASSERT_TRUE(world.render().ok());
  const std::string pod = world.files.read("/out/etc-kubernetes/manifests/etcd-member-pod.yaml").value();
  EXPECT_NE(pod.find("--advertise-client-urls=https://10.97.77.10:2379"), std::string::npos) << pod;
  EXPECT_NE(pod.find("- name: ETCD_MAX_LEARNERS\n      value: \"3\""), std::string::npos) << pod;
  EXPECT_EQ(find_string(world.document("/out/manifests/00_etcd-endpoints-cm.yaml"),
                        {"metadata", "annotations", "alpha.installer.openshift.io/etcd-bootstrap"}),
            "10.97.77.10");
}

TEST(EtcdRender, GivesTheServerItsNamesAndTheSigner) {
  World world;
  ASSERT_TRUE(world.render().ok());
  const std::string folder = "/out/etc-kubernetes/static-pod-resources/etcd-member/";
  const std::string pem = world.files.read(folder + "etcd-all-certs/etcd-serving-bootstrap.crt").value();
  const auto chain = net::parse_certificates(pem).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].subject.common_name, "10.97.77.10");
  EXPECT_EQ(chain[0].ip_addresses, (std::vector<std::string>{"127.0.0.1", "::1", "10.97.77.10"}));
  EXPECT_EQ(chain[0].dns_names.size(), 8u);
  EXPECT_TRUE(chain[0].client_auth && chain[0].server_auth);
  EXPECT_TRUE(net::is_signed_by(pem, world.files.read(folder + "ca.crt").value()).value());
  const auto client = net::parse_certificate(world.files.read("/out/tls/etcd-client.crt").value()).value();
  EXPECT_EQ(client.subject.organizations, (std::vector<std::string>{"system:etcd", "etcd-client"}));
  EXPECT_EQ(client.not_after - client.not_before, std::chrono::hours(24 * 1825));
}

TEST(EtcdRender, InPlaceTheMemberIsPermanent) {
  World world({.install_config_more = "bootstrapInPlace: {installationDisk: /dev/sda}\n", .replicas = 1});
  ASSERT_TRUE(world.render().ok());
  EXPECT_EQ(find_string(world.document("/out/etc-kubernetes/manifests/etcd-member-pod.yaml"), {"metadata", "name"}),
            "etcd-bootstrap");
  const Json endpoints = world.document("/out/manifests/00_etcd-endpoints-cm.yaml");
  EXPECT_EQ(find(endpoints, {"metadata", "annotations"}), nullptr);
  EXPECT_EQ(find_string(endpoints, {"data", "MTAuOTcuNzcuMTA"}), "10.97.77.10");
}

TEST(EtcdRender, MarksAClusterWhoseLastMasterComesLater) {
  World world;
  ASSERT_TRUE(world.files.write("/assets/assisted-install-bootstrap", "", 0644).ok());
  ASSERT_TRUE(world.render().ok());
  EXPECT_EQ(find_string(world.document("/out/manifests/00_openshift-etcd-ns.yaml"),
                        {"metadata", "annotations", "openshift.io/delayed-bootstrap"}),
            "");
}

TEST(EtcdRender, ReportsEveryMissingInput) {
  World world;
  ASSERT_TRUE(world.files.remove("/assets/manifests").ok());
  const Result<> rendered = world.render();
  ASSERT_FALSE(rendered.ok());
  for (std::string_view file : {"cluster-network-02-config.yml", "cluster-config.yaml", "cluster-infrastructure-02-config.yml"}) {
    EXPECT_NE(rendered.error().message().find(file), std::string::npos) << rendered.error().message();
  }
}

}  // namespace
}  // namespace slipway::components::etcd
