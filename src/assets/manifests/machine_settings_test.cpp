#include "assets/manifests/machine_settings.h"

#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::assets {
namespace {

std::string checked(const std::string& manifest) {
  testing_support::SampleGraph sample(
      testing_support::sample_config("apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\n"));
  UserFiles user;
  user.files.emplace("openshift/mine.yaml", manifest);
  sample.graph.put(user);
  const Result<> result = check_machine_settings(sample.get<ManifestSet>());
  return result.ok() ? "" : result.error().message();
}

std::string selecting(std::string_view name, std::string_view pool) {
  return fmt::format(
      "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {{name: {}}}\nspec: {{kubeletConfig: "
      "{{maxPods: "
      "5}}, machineConfigPoolSelector: {{matchLabels: {{pools.operator.machineconfiguration.openshift.io/{}: ''}}}}}}\n",
      name, pool);
}

TEST(MachineSettingsManifests, AreCheckedBeforeAMachineExists) {
  const std::string ours = "apiVersion: machineconfiguration.openshift.io/v1\nkind: {}\nmetadata: {{name: a}}\nspec: {}\n";
  const std::string policy =
      "apiVersion: operator.openshift.io/v1\nkind: MachineConfiguration\nmetadata: {{name: cluster}}\nspec:\n  "
      "nodeDisruptionPolicy:\n"
      "    files:\n    - path: {}\n      actions: [{{type: None}}]\n";
  struct Case {
    std::string manifest, message;
  };
  const Case cases[] = {
      {fmt::format(fmt::runtime(ours), "KubeletConfig", "{logLevel: 4}"), ""},
      {fmt::format(fmt::runtime(ours), "ContainerRuntimeConfig", "{containerRuntimeConfig: {pidsLimit: 100}}"), ""},
      {fmt::format(fmt::runtime(policy), "/etc/a"), ""},
      {fmt::format(fmt::runtime(ours), "KubeletConfig", "{logLevel: 40}"),
       "manifests: openshift/mine.yaml:4:8: error: spec.logLevel: must be a number from 0 to 10"},
      {fmt::format(fmt::runtime(ours), "ContainerRuntimeConfig", "{containerRuntimeConfig: {defaultRuntime: runc}}"),
       "manifests: openshift/mine.yaml:4:33: error: spec.containerRuntimeConfig.defaultRuntime: machines of this release have "
       "crun only "
       "(remove the field)"},
      {fmt::format(fmt::runtime(policy), "etc/a"),
       "manifests: openshift/mine.yaml:7:7: error: spec.nodeDisruptionPolicy.files[0].path: 'etc/a' is not an absolute path "
       "(write it "
       "like /etc/example.conf, without . or ..)"},
      {selecting("a", "worker") + "---\n" + selecting("b", "master"), ""},
      {selecting("a", "worker") + "---\n" + selecting("b", "worker"),
       "manifests: error: pool worker is selected by 2 KubeletConfigs: a, b (at install time a pool may have one: merge them)"},
      {selecting("a", "infra") + "---\n" + selecting("b", "infra") +
           "---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra, labels: "
           "{pools.operator.machineconfiguration.openshift.io/infra: ''}}\n",
       "manifests: error: pool infra is selected by 2 KubeletConfigs: a, b (at install time a pool may have one: merge them)"},
      {"apiVersion: example.com/v1\nkind: KubeletConfig\nmetadata: {name: a}\nspec: {logLevel: 40}\n", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(checked(c.manifest), c.message) << c.manifest;
}

}  // namespace
}  // namespace slipway::assets
