#include "machineconfig/pool_settings.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

YamlDocument document(std::string_view kind, std::string_view spec) {
  return parse_yaml(fmt::format("kind: {}\nspec: {}\n", kind, spec), "a.yaml").value();
}

std::string faults(const YamlDocument& object) {
  Findings findings;
  check_pool_settings(object, findings);
  return std::string(trim(findings.to_text()));
}

KubeletSettings kubelet(std::string_view spec) {
  Findings findings;
  KubeletSettings settings = read_kubelet_config(document("KubeletConfig", spec), findings);
  EXPECT_TRUE(findings.empty()) << findings.to_text();
  return settings;
}

std::string compact(const Json& value) { return emit_json(value, JsonStyle::compact); }

TEST(PoolSettings, KubeletConfigsHaveFieldsOfTheKubelet) {
  EXPECT_EQ(compact(kubelet("{}").fields), "{}");
  EXPECT_EQ(compact(kubelet("{kubeletConfig: {apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, maxPods: 5, "
                            "cgroupRoot: /}}")
                        .fields),
            R"({"maxPods":5,"cgroupRoot":"/"})");
  EXPECT_EQ(compact(kubelet("{logLevel: 0, kubeletConfig: {logging: {format: text}}}").fields),
            R"({"logging":{"format":"text","verbosity":0}})");
  EXPECT_EQ(kubelet("{autoSizingReserved: true, kubeletConfig: {systemReserved: {}}}").reserves_by_size, true);
  EXPECT_EQ(kubelet("{autoSizingReserved: false, kubeletConfig: {systemReserved: {cpu: 1}}}").reserves_by_size, false);
  EXPECT_EQ(kubelet("{}").reserves_by_size, std::nullopt);
}

TEST(PoolSettings, TlsProfilesBecomeVersionAndCiphers) {
  struct Case {
    std::string_view profile, version;
    std::size_t ciphers;
  };
  const Case cases[] = {
      {"{type: Old, old: {}}", "VersionTLS10", 21},
      {"{type: Intermediate}", "VersionTLS12", 9},
      {"{}", "VersionTLS12", 9},
      {"{type: Modern}", "VersionTLS13", 3},
      {"{type: Custom, custom: {minTLSVersion: VersionTLS11, ciphers: [ECDHE-RSA-AES128-GCM-SHA256, AES128-SHA]}}",
       "VersionTLS11", 2},
      {"{type: Custom, custom: {minTLSVersion: VersionTLS13, ciphers: []}}", "VersionTLS13", 0},
  };
  for (const Case& c : cases) {
    const Json fields = kubelet(fmt::format("{{tlsSecurityProfile: {}}}", c.profile)).fields;
    EXPECT_EQ(find_string(fields, {"tlsMinVersion"}), c.version) << c.profile;
    EXPECT_EQ(find_array(fields, {"tlsCipherSuites"}).size(), c.ciphers) << c.profile;
  }
}

TEST(PoolSettings, ContainerRuntimeConfigsHaveWhatContainerdHas) {
  Findings findings;
  const RuntimeSettings settings = read_runtime_config(document("ContainerRuntimeConfig",
                                                                "{containerRuntimeConfig: {pidsLimit: 2048, logLevel: debug, "
                                                                "logSizeMax: 50Mi, defaultRuntime: crun, overlaySize: null}}"),
                                                       findings);
  EXPECT_TRUE(findings.empty()) << findings.to_text();
  EXPECT_EQ(settings.pids_limit, 2048);
  EXPECT_EQ(settings.log_level, "debug");
  EXPECT_EQ(settings.log_size_max, 50 << 20);
}

TEST(PoolSettings, AreRefusedWithPlaceAndReason) {
  struct Case {
    std::string_view kind, spec, message;
  };
  constexpr std::string_view kubelet = "KubeletConfig", runtime = "ContainerRuntimeConfig";
  const Case cases[] = {
      {kubelet, "{kubeletConfig: {clusterDNS: [1.1.1.1]}}",
       "a.yaml:2:24: error: spec.kubeletConfig.clusterDNS: cannot be changed: it is the address of the cluster's DNS service "
       "(remove "
       "the field)"},
      {kubelet, "{kubeletConfig: {cgroupDriver: systemd}}", "spec.kubeletConfig.cgroupDriver: cannot be changed"},
      {kubelet, "{kubeletConfig: {staticPodPath: /a}}", "spec.kubeletConfig.staticPodPath: cannot be changed"},
      {kubelet, "{kubeletConfig: {kind: Pod}}", "spec.kubeletConfig.kind: must be KubeletConfiguration"},
      {kubelet, "{kubeletConfig: 3}", "spec.kubeletConfig: is not an object"},
      {kubelet, "{autoSizingReserved: yes}", "spec.autoSizingReserved: must be true or false"},
      {kubelet, "{autoSizingReserved: true, kubeletConfig: {systemReserved: {cpu: 1}}}",
       "spec.autoSizingReserved: cannot be used with spec.kubeletConfig.systemReserved (remove one of them)"},
      {kubelet, "{logLevel: 11}", "spec.logLevel: must be a number from 0 to 10"},
      {kubelet, "{logLevel: 4, kubeletConfig: {logging: {verbosity: 5}}}", "spec.logLevel: cannot be used with"},
      {kubelet, "{tlsSecurityProfile: {type: Best}}", "spec.tlsSecurityProfile.type: 'Best' is unknown"},
      {kubelet, "{tlsSecurityProfile: {type: Modern}, kubeletConfig: {tlsMinVersion: VersionTLS12}}",
       "spec.tlsSecurityProfile: cannot be used with spec.kubeletConfig.tlsMinVersion"},
      {kubelet,
       "{tlsSecurityProfile: {type: Custom, custom: {minTLSVersion: VersionTLS12, ciphers: [ECDHE-RSA-AES256-GCM-SHA384]}}}",
       "spec.tlsSecurityProfile.custom.ciphers: the kubelet does not start without ECDHE-ECDSA-AES128-GCM-SHA256 or"},
      {kubelet,
       "{tlsSecurityProfile: {type: Custom, custom: {minTLSVersion: VersionTLS13, ciphers: [DHE-RSA-AES128-GCM-SHA256]}}}",
       "spec.tlsSecurityProfile.custom.ciphers[0]: 'DHE-RSA-AES128-GCM-SHA256' is not a cipher of the kubelet"},
      {kubelet, "{tlsSecurityProfile: {type: Custom}}", "spec.tlsSecurityProfile.custom.minTLSVersion: '' is unknown"},
      {kubelet, "{machineConfigPoolSelector: {matchExpressions: [{key: a, operator: Is}]}}",
       "spec.machineConfigPoolSelector.matchExpressions[0].operator: 'Is' is unknown"},
      {kubelet, "{machineConfigPoolSelector: {matchExpressions: [{key: a, operator: In}]}}",
       "spec.machineConfigPoolSelector.matchExpressions[0].values: missing"},
      {kubelet, "{maxPods: 5}", "spec.maxPods: unknown field (remove it)"},
      {runtime, "{containerRuntimeConfig: {pidsLimit: 19}}",
       "spec.containerRuntimeConfig.pidsLimit: must be a number of at least 20 (to remove the limit, set podPidsLimit to -1 in a "
       "KubeletConfig)"},
      {runtime, "{containerRuntimeConfig: {pidsLimit: -1}}", "pidsLimit: must be a number of at least 20"},
      {runtime, "{containerRuntimeConfig: {logSizeMax: 8191}}",
       "spec.containerRuntimeConfig.logSizeMax: must be a size of at least 8192 bytes"},
      {runtime, "{containerRuntimeConfig: {logSizeMax: -1}}", "containerLogMaxSize"},
      {runtime, "{containerRuntimeConfig: {logSizeMax: big}}", "logSizeMax: must be a size"},
      {runtime, "{containerRuntimeConfig: {logLevel: loud}}", "logLevel: must be fatal, panic, error, warn, info or debug"},
      {runtime, "{containerRuntimeConfig: {defaultRuntime: runc}}",
       "spec.containerRuntimeConfig.defaultRuntime: machines of this release have crun only (remove the field)"},
      {runtime, "{containerRuntimeConfig: {overlaySize: 8Gi}}",
       "spec.containerRuntimeConfig.overlaySize: is not supported: containerd cannot limit the size of a container's file system "
       "(set "
       "limits of ephemeral-storage in pods, or in a LimitRange for a namespace)"},
      {runtime, "{containerRuntimeConfig: {additionalImageStores: [{path: /var/lib/a}]}}",
       "additionalImageStores: is not supported"},
      {runtime, "{containerRuntimeConfig: {additionalLayerStores: [{path: /var/lib/a}]}}",
       "additionalLayerStores: is not supported"},
      {runtime, "{containerRuntimeConfig: {additionalArtifactStores: [{path: /var/lib/a}]}}",
       "additionalArtifactStores: is not supported"},
      {runtime, "{containerRuntimeConfig: {cgroupManager: systemd}}", "spec.containerRuntimeConfig.cgroupManager: unknown field"},
  };
  for (const Case& c : cases) {
    const std::string text = faults(document(c.kind, c.spec));
    EXPECT_NE(text.find(c.message), std::string::npos) << c.spec << ": " << text;
    EXPECT_EQ(faults(document("MachineConfig", c.spec)), "");
  }
}

TEST(PoolSettings, QuantitiesAreThoseOfKubernetes) {
  const std::pair<Json, std::optional<std::int64_t>> cases[] = {
      {"50Mi", 50 << 20}, {"1e6", 1'000'000}, {"1E", 1'000'000'000'000'000'000},
      {"1.5k", 1500},     {"+8", 8},          {"100m", 1},
      {"-1", -1},         {-1, -1},           {8192, 8192},
      {"", {}},           {"Mi", {}},         {"1Mib", {}},
      {"1K", {}},         {"ten", {}},        {"16E", {}},
      {true, {}},         {JsonObject(), {}},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(quantity_value(text), value) << compact(text);
}

}  // namespace
}  // namespace slipway::machineconfig
