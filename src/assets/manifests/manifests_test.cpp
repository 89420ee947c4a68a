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

// Every install-config of tests/golden/install-configs with everything that is made of it besides keys and Ignition configs.
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

// Without the capability nothing knows Machines; what is there besides stays.
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
    object_of_kind(sample.get<ManifestSet>(), "Secret", name == "baremetal" ? "worker-user-data-managed" : "worker-user-data");
  }
}

TEST(Manifests, AZoneThatThereIsNoneOfIsNamed) {
  config::InstallConfig config = sample_config(testing_support::golden("install-configs/vsphere.yaml"));
  config.compute.at(0).platform = {{"zones", JsonArray{"nowhere"}}};
  SampleGraph sample(config);
  const auto made = sample.graph.get<ManifestSet>();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), "machine pool worker: 'nowhere' is no failure domain of the platform");
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

// What a user's file in the folders does; `path` and the texts of each row.
struct Case {
  std::string path;
  std::optional<std::string> content;
  std::string message;  // empty: it is fine
};

TEST(UserFiles, AreJudgedWithTheirPlaces) {
  const std::vector<Case> cases = {
      {"manifests/extra.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n", ""},
      {"openshift/two.yml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata: {name: a}\n",
       ""},
      {"openshift/empty.json", "", ""},
      // As oc-mirror writes them.
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
       "manifests: manifests/nameless.yaml:3:1: error: metadata.name: missing: every manifest is an object of Kubernetes"},
      {"manifests/twice.yaml", "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata:\n  name: cluster\n",
       "manifests: manifests/twice.yaml:4:3: error: metadata.name: DNS 'cluster' stands twice, first at "
       "manifests/cluster-dns-02-config.yml:4:3"},
      {"manifests/cluster-config.yaml", std::nullopt,
       "manifests: manifests/cluster-config.yaml: error: was removed, but the bootstrap machine reads it (put it back, or remove "
       "its "
       "whole folder to have that made anew)"},
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
  for (const std::string name : {"baremetal-dual-stack", "vsphere-static-addresses"}) {
    SampleGraph sample(sample_config(testing_support::golden(fmt::format("install-configs/{}.yaml", name))));
    const std::string& text = sample.get<CvoOverrides>().manifest;
    for (const std::string_view absent :
         {"BareMetalHost", "kind: Machine", "IPAddress", "bmc-secret", "network-config-secret", "user-data", "ControlPlane"}) {
      EXPECT_EQ(text.find(absent), std::string::npos) << name << ": " << absent;
    }
  }
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

// The API refuses an object that is named twice.
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
  EXPECT_EQ(find_array(parse_json(overrides.patch, "patch").value(), {"spec", "overrides"}), JsonArray{users});
}

}  // namespace
}  // namespace slipway::assets
