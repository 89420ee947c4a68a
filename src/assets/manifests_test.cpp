#include "base/yaml.h"
#include "support/golden.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

using testing_support::named_tls;
using testing_support::sample_config;
using testing_support::SampleGraph;

constexpr std::string_view everything = R"(apiVersion: v1
metadata:
  name: demo
baseDomain: example.com
platform:
  none: {}
controlPlane:
  name: master
  replicas: 1
  hyperthreading: Disabled
compute:
- name: worker
  replicas: 1
fips: false
featureSet: CustomNoUpgrade
featureGates:
- First=true
- Second=false
proxy:
  httpProxy: http://joe:hunter2@proxy.example.com:3128
  httpsProxy: http://proxy.example.com:3128
  noProxy: .corp.example.com,10.1.0.0/16
imageDigestSources:
- source: quay.io/one
  mirrors: [mirror.example.com/one, other.example.com/one]
- source: quay.io/one
  mirrors: [mirror.example.com/one]
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
)";

// All files of both folders as one text.
void expect_golden(const std::string& name, const ManifestSet& set) {
  std::string text;
  for (const AssetFile& file : set.files) text += fmt::format("# {}\n{}---\n", file.path, file.content);
  testing_support::expect_golden(fmt::format("assets/{}.yaml", name), text);
}

TEST(Manifests, OfThePlatformLocal) {
  SampleGraph sample;
  sample.graph.put(named_tls());
  expect_golden("local", sample.get<ManifestSet>());
}

TEST(Manifests, OfAPlatformWithoutMachinesAndWithEveryOption) {
  SampleGraph sample(sample_config(everything));
  sample.graph.put(named_tls());
  Environment environment = testing_support::sample_environment();
  environment.nodes.clear();
  sample.graph.put(environment);
  expect_golden("none", sample.get<ManifestSet>());
}

TEST(Manifests, AreTheSameForTheSameNumbers) {
  SampleGraph first, second;
  first.graph.put(named_tls());
  second.graph.put(named_tls());
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
  SampleGraph sample(sample_config(everything));
  for (const ManifestObject& object : sample.get<ManifestSet>().objects) {
    if (object.kind == "Secret" || object.kind == "Proxy") continue;
    const std::string text = emit_json(object.value, JsonStyle::compact);
    for (const std::string_view secret : {"cHVsbDpzZWNyZXQ=", "hunter2", "PRIVATE KEY"}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << object.kind << " " << object.name << " has " << secret;
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
  config.platform = {.type = "aws"};
  SampleGraph sample(config);
  const auto made = sample.graph.get<ManifestSet>();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::invalid);
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

}  // namespace
}  // namespace slipway::assets
