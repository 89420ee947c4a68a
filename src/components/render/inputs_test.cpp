#include "components/render/inputs.h"

#include "base/yaml.h"
#include "support/memory_files.h"
#include "support/render_assets.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

using testing_support::MemoryFiles;

Json yaml(std::string_view text) { return parse_yaml(text, "test").value().value; }

constexpr std::string_view gate =
    "{apiVersion: config.openshift.io/v1, kind: FeatureGate, metadata: {name: cluster}, status: {featureGates: "
    "[{version: '1', enabled: [{name: A}], disabled: [{name: B}]}]}}";

TEST(LoadManifests, ReadsEveryFileAndDocumentWhateverItsName) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/m/a.txt", "{apiVersion: v1, kind: A, metadata: {name: a}}", 0644).ok());
  ASSERT_TRUE(files
                  .write("/m/sub/b",
                         "{apiVersion: v1, kind: B, metadata: {name: b}}\n---\n{apiVersion: v1, kind: C, metadata: {name: c}}\n",
                         0644)
                  .ok());
  Findings findings;
  EXPECT_EQ(load_manifests(files, {"/m"}, findings).size(), 3u);
  EXPECT_EQ(findings.to_text(), "");
}

TEST(LoadManifests, TakesEqualObjectsOnce) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/m/a", "{apiVersion: v1, kind: A, metadata: {name: a}}", 0644).ok());
  ASSERT_TRUE(files.write("/m/b", "{kind: A, metadata: {name: a}, apiVersion: v1}", 0644).ok());
  Findings findings;
  EXPECT_EQ(load_manifests(files, {"/m", "/m/a"}, findings).size(), 1u);
  EXPECT_EQ(findings.to_text(), "");
}

TEST(LoadManifests, TellsEverythingThatIsWrong) {
  MemoryFiles files;
  ASSERT_TRUE(files.write("/m/broken", "{", 0644).ok());
  ASSERT_TRUE(files.write("/m/empty", "# nothing\n", 0644).ok());
  ASSERT_TRUE(files.write("/m/kindless", "{apiVersion: v1, metadata: {name: a}}", 0644).ok());
  ASSERT_TRUE(files.write("/m/list", "{apiVersion: v1, kind: List, items: []}", 0644).ok());
  ASSERT_TRUE(files.write("/m/one", "{apiVersion: v1, kind: A, metadata: {name: a}}", 0644).ok());
  ASSERT_TRUE(files.write("/m/two", "{apiVersion: v1, kind: A, metadata: {name: a}, data: {}}", 0644).ok());
  Findings findings;
  load_manifests(files, {"/m", "/none"}, findings);
  EXPECT_EQ(findings.all().size(), 6u) << findings.to_text();
  for (std::string_view expected :
       {"/none: error: file not found", "/m/empty: error: empty", "/m/kindless: error: kind: missing",
        "/m/list: error: metadata.name: missing", "/m/two: error: A a: differs from the one in /m/one"}) {
    EXPECT_NE(findings.to_text().find(expected), std::string::npos) << expected << " is not in\n" << findings.to_text();
  }
}

TEST(FeatureGatesOfAVersion, AreThoseOfTheStatus) {
  Findings findings;
  const FeatureGates gates = feature_gates({{"f", yaml(gate)}}, "1", findings);
  EXPECT_EQ(findings.to_text(), "");
  EXPECT_EQ(gates.settings(), (std::vector<std::string>{"A=true", "B=false"}));
  EXPECT_TRUE(gates.is_enabled("A"));
  EXPECT_FALSE(gates.is_enabled("B"));
}

TEST(FeatureGatesOfAVersion, AreNeeded) {
  Findings none, other;
  feature_gates({}, "1", none);
  feature_gates({{"f", yaml(gate)}}, "2", other);
  EXPECT_TRUE(none.has_errors());
  EXPECT_EQ(other.to_text(), "f: error: status.featureGates: has no entry for version '2'\n");
}

TEST(NetworkOfACluster, NeedsGoodNetworks) {
  Findings findings;
  parse_network(yaml("spec: {clusterNetwork: [{cidr: 10.0.0.0/14, hostPrefix: 8}, {cidr: x}]}"), "f", findings);
  EXPECT_EQ(findings.all().size(), 3u) << findings.to_text();
}

TEST(InstallConfigOfACluster, SaysWhatRendersUse) {
  MemoryFiles files;
  ASSERT_TRUE(
      testing_support::put_render_assets(files, "/a", {.install_config_more = "featureGates: [ShortCertRotation=true]\n"}).ok());
  Findings findings;
  const std::string path = "/a/manifests/cluster-config.yaml";
  const InstallConfig config = parse_install_config(read_document(files, path, findings), path, findings);
  EXPECT_EQ(findings.to_text(), "");
  EXPECT_EQ(config.control_plane_replicas, 3);
  EXPECT_FALSE(config.bootstrap_in_place);
  ASSERT_EQ(config.machine_networks.size(), 1u);
  EXPECT_EQ(to_string(config.machine_networks[0]), "10.97.77.0/24");
  ASSERT_EQ(config.virtual_ips.size(), 2u);
  EXPECT_EQ(to_string(config.virtual_ips[0]), "10.97.77.5");
  EXPECT_EQ(config.feature_gates, (std::vector<std::string>{"ShortCertRotation=true"}));
}

TEST(ReadPair, WantsTheKeyOfTheCertificate) {
  MemoryFiles files;
  ASSERT_TRUE(testing_support::put_render_assets(files, "/a").ok());
  Findings fine, missing, strange;
  EXPECT_FALSE(read_pair(files, "/a/tls", "kubelet-signer", fine).pem.empty());
  EXPECT_EQ(fine.to_text(), "");
  read_pair(files, "/a/tls", "nobody", missing);
  EXPECT_EQ(missing.all().size(), 2u);
  ASSERT_TRUE(files.write("/a/tls/kubelet-signer.key", files.read("/a/tls/root-ca.key").value(), 0600).ok());
  read_pair(files, "/a/tls", "kubelet-signer", strange);
  EXPECT_EQ(strange.to_text(), "/a/tls/kubelet-signer.key: error: not the key of kubelet-signer.crt\n");
}

}  // namespace
}  // namespace slipway::components
