#include "assets/ignition/bootstrap_ignition.h"

#include "assets/ignition/pointer.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::assets {
namespace {

using testing_support::sample_config;
using testing_support::SampleGraph;

const ignition::File* find_file(const ignition::Config& config, std::string_view path) {
  const auto found = std::ranges::find(config.storage.files, path, &ignition::File::path);
  return found == config.storage.files.end() ? nullptr : &*found;
}

std::string content_of(const ignition::Config& config, std::string_view path) {
  const ignition::File* file = find_file(config, path);
  if (!file || !file->contents.source) {
    ADD_FAILURE() << path << " is not there";
    return "";
  }
  return ignition::decode_data_url(*file->contents.source).value();
}

TEST(BootstrapConfig, IsValidAndOfSpec32) {
  SampleGraph sample;
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  const Findings findings = ignition::validate(config);
  EXPECT_FALSE(findings.has_errors()) << findings.to_text();
  EXPECT_EQ(config.ignition.version, ignition::Version::v3_2);
}

// The files of OpenShift's bootstrap machine. Files with secrets have mode 0600, even if OpenShift uses 0644
// (docs/compatibility.md).
TEST(BootstrapConfig, HasTheFilesOfTheBootstrapMachine) {
  SampleGraph sample;
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  const std::vector<std::pair<std::string, int>> expected = {
      {"/etc/containers/registries.conf", 0644},
      {"/etc/ignition-machine-config-encapsulated.json", 0600},
      {"/etc/motd", 0644},
      {"/etc/pki/ca-trust/source/anchors/ca.crt", 0600},
      {"/etc/profile.d/proxy.sh", 0600},
      {"/etc/systemd/system.conf.d/10-default-env.conf", 0600},
      {"/etc/systemd/system.conf.d/10-default-env-godebug.conf", 0600},
      {"/root/.docker/config.json", 0600},
      {"/usr/local/bin/approve-csr.sh", 0555},
      {"/usr/local/bin/bootkube.sh", 0555},
      {"/usr/local/bin/bootstrap-cluster-gather.sh", 0555},
      {"/usr/local/bin/bootstrap-service-record.sh", 0555},
      {"/usr/local/bin/bootstrap-verify-api-server-urls.sh", 0555},
      {"/usr/local/bin/crio-configure.sh", 0555},
      {"/usr/local/bin/installer-gather.sh", 0555},
      {"/usr/local/bin/installer-masters-gather.sh", 0555},
      {"/usr/local/bin/kubelet-pause-image.sh", 0555},
      {"/usr/local/bin/kubelet.sh", 0555},
      {"/usr/local/bin/release-image-download.sh", 0555},
      {"/usr/local/bin/release-image.sh", 0555},
      {"/usr/local/bin/report-progress.sh", 0555},
      {"/usr/local/bin/wait-for-ha-api.sh", 0555},
      {"/opt/openshift/manifests/cluster-config.yaml", 0600},
      {"/opt/openshift/manifests/machine-addresses.yaml", 0600},
      {"/opt/openshift/openshift/99_feature-gate.yaml", 0600},
      {"/opt/openshift/original_cvo_overrides.patch", 0600},
      {"/opt/openshift/auth/kubeconfig", 0600},
      {"/opt/openshift/auth/kubeconfig-kubelet", 0600},
      {"/opt/openshift/auth/kubeconfig-loopback", 0600},
      {"/opt/openshift/tls/root-ca.crt", 0644},
      {"/opt/openshift/tls/service-account.key", 0600},
      {"/opt/openshift/tls/machine-config-server.key", 0600},
      {"/opt/openshift/tls/machine-config-server-token", 0600},
  };
  for (const auto& [path, mode] : expected) {
    const ignition::File* file = find_file(config, path);
    ASSERT_TRUE(file) << path;
    EXPECT_EQ(file->mode, mode) << path;
  }
  for (const ignition::File& file : config.storage.files) {
    EXPECT_TRUE(file.mode == 0600 || file.mode == 0644 || file.mode == 0555) << file.path;
    EXPECT_EQ(file.user.name, "root") << file.path;
    EXPECT_EQ(file.overwrite, file.append.empty()) << file.path;
  }
  EXPECT_EQ(find_file(config, "/etc/motd")->append.size(), 1u);
  for (const std::string path : {"/opt/openshift/auth", "/opt/openshift/manifests", "/opt/openshift/openshift"}) {
    const auto folder = std::ranges::find(config.storage.directories, path, &ignition::Directory::path);
    ASSERT_NE(folder, config.storage.directories.end()) << path;
    EXPECT_EQ(folder->mode, 0700) << path;
  }
}

TEST(BootstrapConfig, FillsTheHolesOfItsScripts) {
  SampleGraph sample;
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  bool names_release = false;
  for (const ignition::File& file : config.storage.files) {
    const std::string text = content_of(config, file.append.empty() ? file.path : "/opt/openshift/tls/root-ca.crt");
    EXPECT_TRUE(template_holes(text).empty()) << file.path;
    names_release = names_release || text.find(testing_support::sample_environment().release_image) != std::string::npos;
  }
  EXPECT_TRUE(names_release);
}

TEST(BootstrapConfig, EnablesTheUnitsThatStartTheOthers) {
  SampleGraph sample;
  std::map<std::string, const ignition::Unit*> units;
  for (const ignition::Unit& unit : sample.get<BootstrapConfig>().config.systemd.units) units.emplace(unit.name, &unit);
  for (const std::string name : {"kubelet.service", "approve-csr.service", "progress.service", "chown-gatewayd-key.service",
                                 "systemd-journal-gatewayd.socket"}) {
    ASSERT_TRUE(units.contains(name)) << name;
    EXPECT_EQ(units.at(name)->enabled, true) << name;
  }
  for (const std::string name : {"release-image.service", "crio-configure.service", "bootkube.service"}) {
    ASSERT_TRUE(units.contains(name)) << name;
    EXPECT_EQ(units.at(name)->enabled, std::nullopt) << name;
    EXPECT_TRUE(units.at(name)->contents.has_value()) << name;
  }
  EXPECT_EQ(units.at("systemd-journal-gatewayd.socket")->contents, std::nullopt);
  ASSERT_TRUE(units.contains("systemd-journal-gatewayd.service"));
  EXPECT_EQ(units.at("systemd-journal-gatewayd.service")->dropins.at(0).name, "certs.conf");
  ASSERT_TRUE(units.contains("zincati.service"));
  EXPECT_EQ(units.at("zincati.service")->enabled, std::nullopt);
  EXPECT_EQ(units.at("zincati.service")->dropins.at(0).name, "okd-machine-os-disabled.conf");
}

TEST(BootstrapConfig, LetsTheUserAndTheGathererIn) {
  SampleGraph sample;
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  ASSERT_EQ(config.passwd.users.size(), 1u);
  ASSERT_EQ(config.passwd.users[0].ssh_authorized_keys.size(), 2u);
  EXPECT_EQ(config.passwd.users[0].ssh_authorized_keys[0], sample_config().ssh_key);
  const std::string& own = config.passwd.users[0].ssh_authorized_keys[1];
  EXPECT_TRUE(own.starts_with("ecdsa-sha2-nistp256 "));
  EXPECT_EQ(std::ranges::count(own, ' '), 1) << "no comment: " << own;
  config::InstallConfig without = sample_config();
  without.ssh_key = "";
  SampleGraph other(without);
  EXPECT_EQ(other.get<BootstrapConfig>().config.passwd.users[0].ssh_authorized_keys.size(), 1u);
}

TEST(BootstrapConfig, CarriesEveryManifestAndOverridesOfTheOperator) {
  SampleGraph sample;
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  for (const AssetFile& file : sample.get<ManifestSet>().files) {
    const bool is_replaced = file.path == "manifests/cvo-overrides.yaml";
    EXPECT_EQ(content_of(config, "/opt/openshift/" + file.path), is_replaced ? sample.get<CvoOverrides>().manifest : file.content)
        << file.path;
  }
}

TEST(BootstrapConfig, ModesFollowThePath) {
  EXPECT_EQ(mode_of("/usr/local/bin/x.sh"), 0555);
  EXPECT_EQ(mode_of("/etc/NetworkManager/dispatcher.d/30-x"), 0555);
  EXPECT_EQ(mode_of("/etc/motd"), 0644);
  EXPECT_EQ(mode_of("/etc/containers/containers.conf"), 0644);
  EXPECT_EQ(mode_of("/etc/containers/registries.conf"), 0644);
  EXPECT_EQ(mode_of("/etc/kubernetes/kubelet.conf"), 0600);
}

TEST(BootstrapConfig, SaysWhatTheEnvironmentAndTheServicesSay) {
  config::InstallConfig config = sample_config();
  Environment environment = testing_support::sample_environment();
  const auto value = [&](const char* name) { return bootstrap_values(config, environment).find(name)->second; };
  EXPECT_EQ(value("SLIPWAY_IMAGES"), "");
  EXPECT_EQ(value("BOOTSTRAP_NODE_IP"), "");
  EXPECT_EQ(value("NODE_IP_FAMILY"), "4");
  EXPECT_EQ(value("API_VIPS"), "10.97.77.5");
  environment.slipway_images = {"a.example.com/slipway:1", "b.example.com/slipway:1"};
  environment.bootstrap_node_ip = "192.0.2.9";
  config.networking.service_network = {"fd02::/112", "172.30.0.0/16"};
  EXPECT_EQ(value("SLIPWAY_IMAGES"), "a.example.com/slipway:1 b.example.com/slipway:1");
  EXPECT_EQ(value("BOOTSTRAP_NODE_IP"), "192.0.2.9");
  EXPECT_EQ(value("NODE_IP_FAMILY"), "6");
}

TEST(BootstrapConfig, NeedsSlipwayNodeFromSomewhere) {
  Environment environment = testing_support::sample_environment();
  environment.release_has_slipway_node = false;
  SampleGraph sample;
  sample.graph.put(environment);
  const auto without = sample.graph.get<BootstrapConfig>();
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message().find("SLIPWAY_IMAGE"), std::string::npos) << without.error().message();
  EXPECT_NE(without.error().message().find(slipway_repository), std::string::npos) << without.error().message();
  environment.slipway_images = {"a.example.com/slipway:1"};
  sample.graph.put(environment);
  EXPECT_TRUE(sample.graph.get<BootstrapConfig>().ok());
}

TEST(BootstrapConfig, NamesAClusterProfileOnlyWhereSomebodyAsksForOne) {
  const auto of_bootkube = [](const std::string& profile) {
    Environment environment = testing_support::sample_environment();
    environment.cluster_profile = profile;
    SampleGraph sample;
    sample.graph.put(environment);
    const ignition::Config& config = sample.get<BootstrapConfig>().config;
    const auto unit = std::ranges::find(config.systemd.units, "bootkube.service", &ignition::Unit::name);
    return unit->dropins.empty() ? std::string() : unit->dropins.at(0).name + ": " + unit->dropins.at(0).contents.value_or("");
  };
  EXPECT_EQ(of_bootkube(""), "");
  EXPECT_EQ(of_bootkube("ibm-cloud-managed"),
            "10-cluster-profile.conf: # The cluster profile, which selects manifests of the release.\n[Service]\n"
            "Environment=CLUSTER_PROFILE=ibm-cloud-managed\n");
}

TEST(BootstrapConfig, EncapsulatesAMachineConfigWithoutItsType) {
  config::InstallConfig config = sample_config();
  config.fips = true;
  SampleGraph sample(config);
  EXPECT_EQ(
      content_of(sample.get<BootstrapConfig>().config, "/etc/ignition-machine-config-encapsulated.json"),
      R"({"metadata":{"name":"bootstrap-fips"},"spec":{"config":{"ignition":{"version":"3.1.0"}},"fips":true,"kernelArguments":[]}})");
}

TEST(BootstrapConfig, HasNoSignersThatNothingThereReads) {
  SampleGraph sample;
  for (const ignition::File& file : sample.get<BootstrapConfig>().config.storage.files) {
    EXPECT_FALSE(file.path.ends_with("tls/admin-kubeconfig-signer.crt")) << file.path;
    EXPECT_FALSE(file.path.ends_with("tls/kubelet-bootstrap-kubeconfig-signer.crt")) << file.path;
  }
}

TEST(BootstrapConfig, HasWhatTheUserWroteIntoPointerConfigs) {
  SampleGraph sample;
  EXPECT_TRUE(pointer_manifests({}, sample.get<Tls>()).empty());
  PointerEdits edits{.master = sample.get<PointerConfigs>().master};
  edits.master->storage.files.push_back({.path = "/etc/mine", .mode = 0644, .contents = {.source = "data:,mine"}});
  sample.graph.put(edits);
  const ignition::Config& config = sample.get<BootstrapConfig>().config;
  EXPECT_EQ(content_of(config, "/opt/openshift/openshift/99_openshift-installer-ignition_master.yaml"),
            R"(apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: master
  name: 99-installer-ignition-master
spec:
  baseOSExtensionsContainerImage: ""
  config:
    ignition:
      version: "3.2.0"
    storage:
      files:
      - contents:
          source: data:,mine
        mode: 420
        path: /etc/mine
  fips: false
  kernelType: ""
  osImageURL: ""
)");
  EXPECT_FALSE(find_file(config, "/opt/openshift/openshift/99_openshift-installer-ignition_worker.yaml"));
}

TEST(InstallRecord, SaysWhatMadeTheCluster) {
  ignition::Config config;
  put_install_record(config, testing_support::sample_environment());
  EXPECT_EQ(content_of(config, "/opt/openshift/manifests/openshift-install.yaml"), R"(apiVersion: v1
data:
  invoker: user
  version: "0.1.0"
kind: ConfigMap
metadata:
  name: openshift-install
  namespace: openshift-config
)");
}

TEST(RegistriesConf, HasEachSourceOnceWithItsMirrorsInOrder) {
  config::InstallConfig config = sample_config();
  EXPECT_EQ(registries_conf(config), "");
  config.image_digest_sources = {{"quay.io/a", {"m1/a", "m2/a"}}, {"quay.io/none", {}}, {"quay.io/a", {"m1/a", "m3/a"}}};
  EXPECT_EQ(registries_conf(config), R"([[registry]]
location = "quay.io/a"
insecure = false
mirror-by-digest-only = true
[[registry.mirror]]
location = "m1/a"
insecure = false
[[registry.mirror]]
location = "m2/a"
insecure = false
[[registry.mirror]]
location = "m3/a"
insecure = false
)");
}

TEST(ProxyFiles, HaveOnlyWhatIsSet) {
  config::InstallConfig config = sample_config();
  EXPECT_EQ(proxy_script(config), "");
  EXPECT_EQ(manager_environment(config), "[Manager]\n");
  config.proxy = config::Proxy{"http://joe:a%40b@p:3128", "", "*"};
  EXPECT_EQ(proxy_script(config), "export HTTP_PROXY=\"http://joe:a%40b@p:3128\"\nexport NO_PROXY=\"*\"\n");
  EXPECT_EQ(manager_environment(config),
            "[Manager]\nDefaultEnvironment=HTTP_PROXY=\"http://joe:a%%40b@p:3128\"\nDefaultEnvironment=NO_PROXY=\"*\"\n");
}

TEST(PointerConfigs, AreValidAndNameTheServerItsAuthorityAndTheTokenOfTheirRole) {
  SampleGraph sample;
  const ServerToken& token = sample.get<ServerToken>();
  EXPECT_NE(token.text.reveal(), token.worker.reveal());
  const PointerConfigs& pointers = sample.get<PointerConfigs>();
  for (const auto& [config, role] : {std::pair{pointers.master, "master"}, std::pair{pointers.worker, "worker"}}) {
    EXPECT_FALSE(ignition::validate(config).has_errors()) << ignition::validate(config).to_text();
    ASSERT_EQ(config.ignition.config.merge.size(), 1u);
    const ignition::Resource& merge = config.ignition.config.merge[0];
    EXPECT_EQ(merge.source, fmt::format("https://10.97.77.5:22623/config/{}", role));
    ASSERT_EQ(merge.http_headers.size(), 1u);
    EXPECT_EQ(merge.http_headers[0].name, "Authorization");
    EXPECT_EQ(merge.http_headers[0].value, "Bearer " + (config == pointers.master ? token.text : token.worker).reveal());
    ASSERT_EQ(config.ignition.security.tls.certificate_authorities.size(), 1u);
    EXPECT_EQ(ignition::decode_data_url(*config.ignition.security.tls.certificate_authorities[0].source).value(),
              sample.get<Tls>().find("root-ca")->second.pem);
    EXPECT_TRUE(config.storage.files.empty());
  }
}

TEST(PointerConfigs, PutAnAddressOfIpv6IntoBrackets) {
  config::InstallConfig config = sample_config();
  config.platform = {.type = "baremetal", .section = {{"apiVIPs", {"fd00:97::5", "10.97.77.5"}}}};
  SampleGraph sample;
  const PointerConfigs pointers = make_pointer_configs(config, sample.get<RootTls>(), sample.get<ServerToken>());
  EXPECT_EQ(pointers.master.ignition.config.merge[0].source, "https://[fd00:97::5]:22623/config/master");
}

TEST(PointerConfigs, NameTheNameWhereThereIsNoVirtualAddress) {
  config::InstallConfig config = sample_config();
  config.platform = {.type = "none"};
  SampleGraph sample(config);
  EXPECT_EQ(sample.get<PointerConfigs>().worker.ignition.config.merge[0].source,
            "https://api-int.demo.example.com:22623/config/worker");
}

}  // namespace
}  // namespace slipway::assets
