#include "components/controller/unused_settings.h"

#include "base/text.h"
#include "base/yaml.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace slipway::components {
namespace {

std::string unused(const kube::ResourceType& type, std::string_view yaml) {
  return join(unused_settings(type, parse_yaml(yaml, "test").value().value), " ");
}

TEST(UnusedSettings, AreFieldsThatNothingReads) {
  struct Case {
    kube::ResourceType type;
    std::string_view object, expected;
  };
  const Case cases[] = {
      {kube::types::api_servers, "spec: {}", ""},
      {kube::types::api_servers, "{}", ""},
      {kube::types::api_servers,
       "spec: {audit: {profile: Default}, clientCA: {name: mine}, servingCerts: {namedCertificates: []}}", ""},
      {kube::types::api_servers, "spec: {audit: {profile: AllRequestBodies, customRules: [{group: a, profile: None}]}}",
       "spec.audit.customRules spec.audit.profile"},
      {kube::types::api_servers, "spec: {encryption: {type: aescbc}, tlsSecurityProfile: {type: Custom, custom: {ciphers: [a]}}}",
       "spec.encryption.type spec.tlsSecurityProfile.custom spec.tlsSecurityProfile.type"},
      {kube::types::api_servers, "spec: {tlsSecurityProfile: {type: Intermediate, intermediate: {}}}", ""},
      {kube::types::api_servers, "spec: {fieldOfTomorrow: 1}", "spec.fieldOfTomorrow"},
      {kube::types::images, "spec: {registrySources: {insecureRegistries: [r.example.com]}, additionalTrustedCA: {name: ''}}",
       "spec.registrySources.insecureRegistries"},
      {kube::types::node_settings, "spec: {cgroupMode: v2, workerLatencyProfile: Default}", ""},
      {kube::types::node_settings, "spec: {workerLatencyProfile: LowUpdateSlowReaction}", "spec.workerLatencyProfile"},
      {kube::types::machine_configurations, "spec: {managementState: Managed, nodeDisruptionPolicy: {sshkey: {actions: []}}}",
       ""},
      {kube::types::machine_configurations, "spec: {managedBootImages: {machineManagers: [{resource: machinesets}]}}",
       "spec.managedBootImages.machineManagers"},
      {kube::types::schedulers, "spec: {mastersSchedulable: true, profile: NoScoring, policy: {name: ''}}", ""},
      {kube::types::schedulers, "spec: {defaultNodeSelector: a=b}", "spec.defaultNodeSelector"},
      {kube::types::networks, "spec: {networkType: Flannel, externalIP: {policy: {}}, serviceNodePortRange: 30000-32000}",
       "spec.serviceNodePortRange"},
      {kube::types::etcds, "spec: {logLevel: Debug, unsupportedConfigOverrides: {certificates: {leaf: 4m}, other: {a: b}}}",
       "spec.logLevel spec.unsupportedConfigOverrides.certificates spec.unsupportedConfigOverrides.other"},
      {kube::types::kube_schedulers, "spec: {logLevel: Normal, unsupportedConfigOverrides: {a: b}, observedConfig: null}", ""},
      {kube::types::dns_settings, "spec: {logLevel: Trace, operatorLogLevel: Trace, cache: {positiveTTL: 1h}}",
       "spec.operatorLogLevel"},
      {kube::types::network_settings,
       "spec: {defaultNetwork: {type: Flannel, ovnKubernetesConfig: {mtu: 1400, genevePort: 6081}}}",
       "spec.defaultNetwork.ovnKubernetesConfig.genevePort"},
      // Other programs report on these.
      {kube::types::machine_configs, "spec: {kernelType: realtime}", ""},
  };
  for (const Case& each : cases) EXPECT_EQ(unused(each.type, each.object), each.expected) << each.object;
}

// Machines get the proxy of the status, which the installer wrote. The spec of a new cluster has the same values.
TEST(UnusedSettings, OfAProxyAreWhatDiffersFromTheStatus) {
  const std::string status =
      "status: {httpProxy: 'http://p:3128', noProxy: '.cluster.local,.svc,10.0.0.0/16,a.example.com,b.example.com'}";
  const auto with = [&](std::string_view spec) { return unused(kube::types::proxies, fmt::format("{}\n{}\n", spec, status)); };
  EXPECT_EQ(with("spec: {httpProxy: 'http://p:3128', noProxy: 'b.example.com,a.example.com', trustedCA: {name: user-ca-bundle}}"),
            "");
  EXPECT_EQ(with("spec: {httpProxy: 'http://q:3128', httpsProxy: 'http://p:3128', noProxy: 'c.example.com'}"),
            "spec.httpProxy spec.httpsProxy spec.noProxy");
  EXPECT_EQ(with("spec: {readinessEndpoints: ['http://a'], trustedCA: {name: mine}}"),
            "spec.readinessEndpoints spec.trustedCA.name");
}

TEST(UnusedSettings, AreALineAnObject) {
  View view;
  const auto put = [&](std::string_view text) { view.put(parse_yaml(text, "test").value().value); };
  put("{apiVersion: config.openshift.io/v1, kind: APIServer, metadata: {name: cluster}, spec: {audit: {profile: None}}}");
  put("{apiVersion: config.openshift.io/v1, kind: Node, metadata: {name: cluster}, spec: {cgroupMode: ''}}");
  put("{apiVersion: config.openshift.io/v1, kind: Image, metadata: {name: cluster}, spec: {registrySources: {blockedRegistries: "
      "[a], "
      "allowedRegistries: [b]}}}");
  EXPECT_EQ(unused_settings(cluster_settings(), view.snapshot()),
            (std::vector<std::string>{
                "APIServer cluster: spec.audit.profile",
                "Image cluster: spec.registrySources.allowedRegistries, spec.registrySources.blockedRegistries"}));
}

// One operator reports on each object: the config operator on those of config.openshift.io.
TEST(UnusedSettings, OfTheClusterAreConfigurationOnly) {
  std::set<std::string> plurals;
  for (const kube::ResourceType& type : cluster_settings()) {
    EXPECT_EQ(type.group, "config.openshift.io") << type.plural;
    EXPECT_TRUE(plurals.insert(type.plural).second) << type.plural;
  }
  for (const char* name : {"apiservers", "authentications", "dnses", "featuregates", "images", "infrastructures", "ingresses",
                           "networks", "nodes", "proxies", "schedulers"}) {
    EXPECT_TRUE(plurals.contains(name)) << name;
  }
}

}  // namespace
}  // namespace slipway::components
