#include "assets/ignition/pointer.h"
#include "base/digest.h"
#include "base/yaml.h"
#include "support/golden.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace slipway::assets {
namespace {

using testing_support::put_named_tls;
using testing_support::sample_config;
using testing_support::SampleGraph;

// The install-configs of tests/golden/install-configs. For each one, all generated files except keys and Ignition configs are
// compared.
std::vector<std::string> golden_configs() {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(SLIPWAY_SOURCE "/tests/golden/install-configs")) {
    names.push_back(each.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

Environment environment_of(const config::InstallConfig& config) {
  Environment environment = testing_support::sample_environment();
  if (config.platform.type != "local") environment.nodes.clear();
  return environment;
}

class GoldenConfig : public testing::TestWithParam<std::string> {};

TEST_P(GoldenConfig, GivesTheseFiles) {
  const config::InstallConfig config = sample_config(testing_support::golden(fmt::format("install-configs/{}.yaml", GetParam())));
  SampleGraph sample(config);
  put_named_tls(sample.graph, config.platform.type);
  sample.graph.put(environment_of(config));
  std::string text;
  for (const AssetFiles* files : {&sample.get<ManifestSet>().files, &sample.get<ClusterApiManifests>().files}) {
    for (const AssetFile& file : *files) text += fmt::format("# {}\n{}---\n", file.path, file.content);
  }
  text += fmt::format("# metadata.json\n{}\n", emit_json(sample.get<Metadata>().document, JsonStyle::compact));
  testing_support::expect_golden(fmt::format("assets/{}.yaml", GetParam()), text);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenConfig, testing::ValuesIn(golden_configs()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Manifests, AreTheSameForTheSameNumbers) {
  SampleGraph first, second;
  put_named_tls(first.graph);
  put_named_tls(second.graph);
  EXPECT_EQ(first.get<ManifestSet>().files, second.get<ManifestSet>().files);
}

const Json& object_of_kind(const ManifestSet& set, std::string_view kind, std::string_view name) {
  for (const ManifestObject& object : set.objects) {
    if (object.kind == kind && object.name == name) return object.value;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  static const Json none;
  return none;
}

TEST(Manifests, SayNoSecretToThoseWhoMayReadConfigMaps) {
  for (const std::string& name : golden_configs()) {
    SampleGraph sample(sample_config(testing_support::golden(fmt::format("install-configs/{}.yaml", name))));
    for (const ManifestObject& object : sample.get<ManifestSet>().objects) {
      if (object.kind == "Secret" || object.kind == "Proxy") continue;
      const std::string text = emit_json(object.value, JsonStyle::compact);
      for (const std::string_view secret : {"cHVsbDpzZWNyZXQ=", "hunter2", "PRIVATE KEY", "admin-", "administrator",
                                            "bmc-secret-1", "nmstate-secret", "vcenter-secret"}) {
        EXPECT_EQ(text.find(secret), std::string::npos) << name << ": " << object.kind << " " << object.name << " has " << secret;
      }
    }
  }
}

TEST(Manifests, ATrustBundleBecomesAConfigMapThatTheProxyNames) {
  const net::Certificate authority = net::make_certificate({.subject = {.common_name = "corp", .organizational_units = {"it"}},
                                                            .is_ca = true,
                                                            .valid_from = testing_support::sample_environment().now,
                                                            .valid_for = std::chrono::hours(1)},
                                                           nullptr)
                                         .value();
  config::InstallConfig config = sample_config();
  config.additional_trust_bundle = "our own\n" + authority.pem + "\n\n";
  for (const std::string policy : {"Proxyonly", "Always"}) {
    config.additional_trust_bundle_policy = policy;
    SampleGraph sample(config);
    const ManifestSet& set = sample.get<ManifestSet>();
    EXPECT_EQ(find_string(object_of_kind(set, "ConfigMap", "user-ca-bundle"), {"data", "ca-bundle.crt"}), authority.pem);
    EXPECT_EQ(find_string(object_of_kind(set, "Proxy", "cluster"), {"spec", "trustedCA", "name"}),
              policy == "Always" ? "user-ca-bundle" : "");
  }
}

TEST(Manifests, APlatformThatNobodyMakesManifestsForIsRefused) {
  config::InstallConfig config = sample_config();
  config.platform = {.type = "azure"};
  SampleGraph sample(config);
  const auto made = sample.graph.get<ManifestSet>();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::invalid);
}

TEST(Manifests, HaveNoKubeadminWhenNobodyWantsOne) {
  SampleGraph sample;
  Environment environment = testing_support::sample_environment();
  environment.no_kubeadmin = true;
  sample.graph.put(environment);
  const Assets& assets = sample.get<Assets>();
  for (const AssetFiles* files : {&assets.openshift, &assets.auth}) {
    for (const AssetFile& file : *files) EXPECT_EQ(file.path.find("kubeadmin"), std::string::npos) << file.path;
  }
}

// Without capability MachineAPI there are no Machines; all other manifests stay.
TEST(Manifests, HaveNoMachinesWithoutTheirOperator) {
  for (const std::string name : {"baremetal", "vsphere"}) {
    config::InstallConfig config = sample_config(testing_support::golden(fmt::format("install-configs/{}.yaml", name)));
    config.capabilities = {{"baselineCapabilitySet", "None"}, {"additionalEnabledCapabilities", JsonArray{"baremetal"}}};
    SampleGraph sample(config);
    std::set<std::string> kinds;
    for (const ManifestObject& object : sample.get<ManifestSet>().objects) {
      kinds.insert(object.kind);
      EXPECT_EQ(object.name.find("bmc-secret"), std::string::npos) << object.name;
    }
    for (const std::string absent : {"Machine", "MachineSet", "ControlPlaneMachineSet", "BareMetalHost"}) {
      EXPECT_FALSE(kinds.contains(absent)) << name << ": " << absent;
    }
    object_of_kind(sample.get<ManifestSet>(), "Secret", "worker-user-data");
    object_of_kind(sample.get<ManifestSet>(), "Secret", name == "baremetal" ? "master-user-data-managed" : "master-user-data");
  }
}

std::string shown_config(const ManifestSet& set) {
  return std::string(find_string(object_of_kind(set, "ConfigMap", "cluster-config-v1"), {"data", "install-config"}).value_or(""));
}

TEST(Manifests, TheHardwareProfileIsTheOneOfTheHostsThatAreMade) {
  config::InstallConfig config = sample_config(testing_support::golden("install-configs/baremetal.yaml"));
  SampleGraph sample(config);
  EXPECT_NE(shown_config(sample.get<ManifestSet>()).find("hardwareProfile: unknown"), std::string::npos);
  EXPECT_EQ(find_string(object_of_kind(sample.get<ManifestSet>(), "BareMetalHost", "spare"), {"spec", "hardwareProfile"}),
            "unknown");
  config.capabilities = {{"baselineCapabilitySet", "None"}, {"additionalEnabledCapabilities", JsonArray{"baremetal"}}};
  SampleGraph without(config);
  EXPECT_NE(shown_config(without.get<ManifestSet>()).find("hardwareProfile: default"), std::string::npos);
}

TEST(Manifests, WorkersOfAnUnmanagedNetworkDoNotWait) {
  std::string text = testing_support::golden("install-configs/baremetal.yaml");
  const auto is_paused = [](const std::string& yaml) {
    SampleGraph sample(sample_config(yaml));
    const Json& host = object_of_kind(sample.get<ManifestSet>(), "BareMetalHost", "worker-0");
    return find(host, {"metadata", "annotations", "baremetalhost.metal3.io/paused"}) != nullptr;
  };
  EXPECT_TRUE(is_paused(text));
  const std::string before = "    provisioningNetworkInterface: enp1s0\n";
  text.replace(text.find(before), before.size(), before + "    provisioningNetwork: Unmanaged\n");
  EXPECT_FALSE(is_paused(text));
}

TEST(Manifests, OfVsphereShowNoAddressesOfMachinesInTheConfig) {
  SampleGraph sample(sample_config(testing_support::golden("install-configs/vsphere-static-addresses.yaml")));
  const std::string text = shown_config(sample.get<ManifestSet>());
  EXPECT_EQ(text.find("hosts:"), std::string::npos) << text;
  EXPECT_EQ(text.find("192.0.2.31"), std::string::npos) << text;
}

TEST(Manifests, SayThatTheCheckOfTheHostWasSkipped) {
  const std::string annotation = "install.openshift.io/hostcrypt-check-bypassed: \"true\"";
  for (const bool skips : {false, true}) {
    SampleGraph sample;
    Environment environment = testing_support::sample_environment();
    environment.fips_check_bypassed = skips;
    sample.graph.put(environment);
    EXPECT_EQ(shown_config(sample.get<ManifestSet>()).find(annotation) != std::string::npos, skips);
  }
}

TEST(Manifests, OfFipsPutEveryPoolIntoTheMode) {
  config::InstallConfig config = sample_config();
  config.fips = true;
  SampleGraph sample(config);
  for (const std::string role : {"master", "worker"}) {
    const Json& object = object_of_kind(sample.get<ManifestSet>(), "MachineConfig", fmt::format("99-{}-fips", role));
    EXPECT_EQ(*find(object, {"spec", "fips"}), Json(true));
  }
}

TEST(Manifests, ASourceWithoutMirrorsHasNoListOfThem) {
  config::InstallConfig config = sample_config();
  config.image_digest_sources = {{"quay.io/a", {}}, {"quay.io/b", {"mirror.example.com/b"}}};
  SampleGraph sample(config);
  const Json& object = object_of_kind(sample.get<ManifestSet>(), "ImageDigestMirrorSet", "image-digest-mirror");
  EXPECT_EQ(
      *find(object, {"spec", "imageDigestMirrors"}),
      (Json(JsonArray{{{"source", "quay.io/a"}}, {{"source", "quay.io/b"}, {"mirrors", JsonArray{"mirror.example.com/b"}}}})));
}

TEST(Manifests, HandMachinesTheUsersPointerConfigs) {
  SampleGraph sample;
  PointerEdits edits{.worker = sample.get<PointerConfigs>().worker};
  edits.worker->storage.files.push_back({.path = "/etc/mine", .mode = 0644, .contents = {.source = "data:,mine"}});
  SampleGraph changed;
  changed.graph.put(edits);
  const auto data = [](SampleGraph& graph, std::string_view name) {
    const Json& secret = object_of_kind(graph.get<ManifestSet>(), "Secret", name);
    return base64_decode(find_string(secret, {"data", "userData"}).value_or("")).value();
  };
  EXPECT_EQ(data(changed, "worker-user-data"), ignition_text(*edits.worker));
  EXPECT_EQ(data(changed, "master-user-data"), ignition_text(changed.get<PointerConfigs>().master));
}

// The same text as from openshift-install, including blank lines.
TEST(Manifests, TheCloudsConfigHasABlankLineBehindAPort) {
  SampleGraph sample(sample_config(testing_support::golden("configs/good/vsphere-older.yaml")));
  const std::string id = sample.get<ClusterId>().infra_id;
  EXPECT_EQ(find_string(object_of_kind(sample.get<ManifestSet>(), "ConfigMap", "cloud-provider-config"), {"data", "config"}),
            "[Global]\nsecret-name = \"vsphere-creds\"\nsecret-namespace = \"kube-system\"\ninsecure-flag = \"1\"\n\n"
            "[VirtualCenter \"vcenter.example.com\"]\nport = \"443\"\n\ndatacenters = \"dc1\"\n\n"
            "[Workspace]\nserver = \"vcenter.example.com\"\ndatacenter = \"dc1\"\n"
            "default-datastore = \"/dc1/datastore/store1\"\nfolder = \"/dc1/vm/" +
                id + "\"\nresourcepool-path = \"/dc1/host/cluster1/Resources\"\n\n");
}

TEST(Manifests, AZoneThatThereIsNoneOfIsNamed) {
  config::InstallConfig config = sample_config(testing_support::golden("install-configs/vsphere.yaml"));
  config.compute.at(0).platform = {{"zones", JsonArray{"nowhere"}}};
  SampleGraph sample(config);
  const auto made = sample.graph.get<ManifestSet>();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), "machine pool worker: 'nowhere' is not a failure domain of the platform");
}

TEST(Manifests, AnIngressThatIsOnlyForTheInsideSaysSo) {
  config::InstallConfig config = sample_config(testing_support::golden("install-configs/aws.yaml"));
  for (const auto& [publish, ingress, is_internal] :
       {std::tuple("External", "", false), std::tuple("Internal", "", true), std::tuple("Mixed", "External", false),
        std::tuple("Mixed", "Internal", true)}) {
    config.publish = publish;
    config.effective.as_object()["operatorPublishingStrategy"] = {{"ingress", ingress}};
    SampleGraph sample(config);
    const auto& objects = sample.get<ManifestSet>().objects;
    EXPECT_EQ(std::ranges::count(objects, "IngressController", &ManifestObject::kind), is_internal ? 1 : 0) << publish << ingress;
  }
}

// A user's file in manifests/ or openshift/, and the expected error.
struct Case {
  std::string path;
  std::optional<std::string> content;
  std::string message;  // empty: no error
};

TEST(UserFiles, AreJudgedWithTheirPlaces) {
  const std::vector<Case> cases = {
      {"manifests/extra.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n", ""},
      {"openshift/two.yml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata: {name: a}\n",
       ""},
      {"openshift/empty.json", "", ""},
      // Files as oc-mirror writes them.
      {"manifests/idms-oc-mirror.yaml",
       "---\napiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: idms-release-0}\n"
       "spec: {imageDigestMirrors: [{source: quay.io/one, mirrors: [mirror.example.com/one]}]}\n"
       "---\napiVersion: config.openshift.io/v1\nkind: ImageTagMirrorSet\nmetadata: {name: itms-generic-0}\n"
       "spec: {imageTagMirrors: [{source: quay.io/one, mirrors: [mirror.example.com/one]}]}\n",
       ""},
      {"manifests/kube-cloud-config.yaml", std::nullopt, ""},
      {"manifests/broken.yaml", "a: [1\n",
       "manifests: error: manifests/broken.yaml:2:1: while parsing a flow sequence did not find expected ',' or ']'"},
      {"manifests/nameless.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  namespace: x\n",
       "manifests: manifests/nameless.yaml:3:1: error: metadata.name: missing, every manifest must be a Kubernetes object"},
      {"manifests/twice.yaml", "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata:\n  name: cluster\n",
       "manifests: manifests/twice.yaml:4:3: error: metadata.name: duplicate DNS 'cluster', first at "
       "manifests/cluster-dns-02-config.yml:4:3"},
      {"manifests/cluster-config.yaml", std::nullopt,
       "manifests: manifests/cluster-config.yaml: error: removed, but the bootstrap machine needs it (restore it, or remove its "
       "whole folder to generate the folder again)"},
  };
  for (const Case& each : cases) {
    SampleGraph sample;
    sample.graph.put(UserFiles{{{each.path, each.content}}});
    const auto made = sample.graph.get<ManifestSet>();
    EXPECT_EQ(made.ok() ? "" : made.error().message(), each.message) << each.path;
    if (!made.ok()) continue;
    const auto& files = made.value()->files;
    const auto found = std::ranges::find(files, each.path, &AssetFile::path);
    EXPECT_EQ(found == files.end() ? std::nullopt : std::optional(found->content), each.content) << each.path;
  }
}

TEST(UserFiles, AllProblemsAreSaidAtOnce) {
  SampleGraph sample;
  sample.graph.put(
      UserFiles{{{"manifests/a.yaml", "a: [1\n"}, {"manifests/b.yaml", "kind: X\n"}, {"manifests/cvo-overrides.yaml", {}}}});
  const std::string message = sample.graph.get<ManifestSet>().error().message();
  for (const std::string part :
       {"manifests/a.yaml:2:1", "manifests/b.yaml:1:1: error: apiVersion", "manifests/cvo-overrides.yaml"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(CvoOverrides, NameEveryObjectOfOursAndTheUsersButNoMachines) {
  SampleGraph sample;
  sample.graph.put(UserFiles{{
      {"manifests/mine.yaml",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n---\n"
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second, namespace: default}\n"},
      {"openshift/99-mine.yaml",
       "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: 99-mine}\n"},
  }});
  const CvoOverrides& overrides = sample.get<CvoOverrides>();
  const Json object = parse_yaml(overrides.manifest, "cvo-overrides.yaml")->value;
  std::set<std::string> names;
  for (const Json& each : find_array(object, {"spec", "overrides"})) {
    EXPECT_EQ(*find(each, {"unmanaged"}), Json(true));
    names.insert(fmt::format("{}/{}/{}/{}", find_string(each, {"group"}).value(), find_string(each, {"kind"}).value(),
                             find_string(each, {"namespace"}).value(), find_string(each, {"name"}).value()));
  }
  for (const std::string there : {"config.openshift.io/DNS//cluster", "/ConfigMap/default/mine", "/Secret/kube-system/kubeadmin",
                                  "config.openshift.io/FeatureGate//cluster"}) {
    EXPECT_TRUE(names.contains(there)) << there;
  }
  for (const std::string& name : names) {
    for (const std::string_view absent : {"MachineConfig", "user-data", "second", "ClusterVersion"}) {
      EXPECT_EQ(name.find(absent), std::string::npos) << name;
    }
  }
  EXPECT_EQ(overrides.patch, R"({"spec":{"overrides":null}})");
}

TEST(CvoOverrides, LeaveWhatMachinesAreMadeOfToTheirOperators) {
  for (const std::string name : {"baremetal-dual-stack", "vsphere"}) {
    SampleGraph sample(sample_config(testing_support::golden(fmt::format("install-configs/{}.yaml", name))));
    const std::string& text = sample.get<CvoOverrides>().manifest;
    for (const std::string_view absent :
         {"BareMetalHost", "kind: Machine", "IPAddress", "bmc-secret", "network-config-secret", "user-data", "ControlPlane"}) {
      EXPECT_EQ(text.find(absent), std::string::npos) << name << ": " << absent;
    }
  }
}

// openshift-install does not treat files of workers with static addresses as machine manifests.
TEST(CvoOverrides, NameWorkersThatHaveFixedAddresses) {
  SampleGraph sample(sample_config(testing_support::golden("install-configs/vsphere-static-addresses.yaml")));
  const std::string id = sample.get<ClusterId>().infra_id;
  const Json object = parse_yaml(sample.get<CvoOverrides>().manifest, "cvo-overrides.yaml")->value;
  std::set<std::string> names;
  for (const Json& each : find_array(object, {"spec", "overrides"})) {
    const std::string kind(find_string(each, {"kind"}).value());
    if (kind.starts_with("Machine") || kind.starts_with("IPAddress") || kind.starts_with("ControlPlane")) {
      names.insert(fmt::format("{}/{}", kind, find_string(each, {"name"}).value()));
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"Machine/" + id + "-worker-0", "IPAddress/" + id + "-worker-0-claim-0-0",
                                          "IPAddressClaim/" + id + "-worker-0-claim-0-0"}));
}

TEST(CvoOverrides, OfTheUserComeLastAndAreBroughtBack) {
  SampleGraph sample;
  Json version = object_of_kind(sample.get<ManifestSet>(), "ClusterVersion", "version");
  version.as_object()["spec"].as_object()["overrides"] =
      JsonArray{{{"kind", "Deployment"}, {"group", "apps"}, {"namespace", "mine"}, {"name", "mine"}, {"unmanaged", true}}};
  SampleGraph changed;
  changed.graph.put(UserFiles{{{"manifests/cvo-overrides.yaml", emit_yaml(version)}}});
  const CvoOverrides& overrides = changed.get<CvoOverrides>();
  const Json object = parse_yaml(overrides.manifest, "cvo-overrides.yaml")->value;
  EXPECT_EQ(find_string(find_array(object, {"spec", "overrides"}).back(), {"name"}), "mine");
  EXPECT_EQ(overrides.patch,
            R"({"spec":{"overrides":[{"kind":"Deployment","group":"apps","namespace":"mine","name":"mine","unmanaged":true}]}})");
}

// The API rejects two overrides for one object.
TEST(CvoOverrides, OfTheUserForAnObjectThatHasAManifestIsNoSecondOne) {
  SampleGraph sample;
  Json version = object_of_kind(sample.get<ManifestSet>(), "ClusterVersion", "version");
  const Json users = {
      {"kind", "DNS"}, {"group", "config.openshift.io"}, {"namespace", ""}, {"name", "cluster"}, {"unmanaged", false}};
  version.as_object()["spec"].as_object()["overrides"] = JsonArray{users};
  SampleGraph changed;
  changed.graph.put(UserFiles{{{"manifests/cvo-overrides.yaml", emit_yaml(version)}}});
  const CvoOverrides& overrides = changed.get<CvoOverrides>();
  std::vector<Json> named;
  const Json manifest = parse_yaml(overrides.manifest, "cvo-overrides.yaml")->value;
  for (const Json& each : find_array(manifest, {"spec", "overrides"})) {
    if (find_string(each, {"kind"}) == "DNS") named.push_back(each);
  }
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].as_object().at("unmanaged"), Json(true)) << "as long as the bootstrap is running";
  const Json patch = parse_json(overrides.patch, "patch").value();
  EXPECT_EQ(find_array(patch, {"spec", "overrides"}), JsonArray{users});
}

}  // namespace
}  // namespace slipway::assets
