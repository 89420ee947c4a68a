#include "components/service_ca/injection.h"

#include "base/digest.h"
#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::service_ca {
namespace {

constexpr const char* asks = "annotations: {service.beta.openshift.io/inject-cabundle: 'true'}";

Json yaml(const std::string& text) { return parse_yaml(text, "x").value().value; }

// "KIND/NAME {WANTED}" or "KIND/NAME: PROBLEM", one line each.
std::vector<std::string> injections(const View& view) {
  std::vector<std::string> lines;
  for (const Injection& each : plan_injections(view.snapshot(), "PEM")) {
    Json wanted = each.wanted;
    for (const char* key : {"apiVersion", "kind", "metadata"}) wanted.as_object().erase(key);
    lines.push_back(fmt::format("{}/{}{}", each.type.kind, kube::name_of(*each.object),
                                each.problem.empty() ? " " + emit_json(wanted, JsonStyle::compact) : ": " + each.problem));
  }
  return lines;
}

TEST(PlanInjections, ConfigMapsGetOneKey) {
  View view;
  view.put(yaml(fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{namespace: a, name: empty, {}}}}}", asks)));
  view.put(yaml(fmt::format(
      "{{apiVersion: v1, kind: ConfigMap, metadata: {{namespace: a, name: old, {}}}, data: {{service-ca.crt: OLD}}}}", asks)));
  view.put(yaml(fmt::format(
      "{{apiVersion: v1, kind: ConfigMap, metadata: {{namespace: a, name: done, {}}}, data: {{service-ca.crt: PEM}}}}", asks)));
  view.put(yaml(
      fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{namespace: a, name: used, {}}}, data: {{mine: x}}}}", asks)));
  view.put(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: other}}"));
  EXPECT_EQ(injections(view),
            (std::vector<std::string>{
                R"(ConfigMap/empty {"data":{"service-ca.crt":"PEM"}})", R"(ConfigMap/old {"data":{"service-ca.crt":"PEM"}})",
                "ConfigMap/used: a ConfigMap with annotation service.beta.openshift.io/inject-cabundle may have "
                "no other key than service-ca.crt (remove mine, or use another ConfigMap)"}));
}

TEST(PlanInjections, WebhooksConversionsAndApiServices) {
  View view;
  view.put(
      yaml(fmt::format("{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {{name: "
                       "hooks, {}}}, webhooks: [{{name: a, clientConfig: {{service: {{name: s}}}}}}, {{name: b, clientConfig: "
                       "{{caBundle: {}}}}}]}}",
                       asks, base64_encode("PEM"))));
  view.put(
      yaml(fmt::format("{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: crd, {}}}, "
                       "spec: {{conversion: {{strategy: Webhook, webhook: {{clientConfig: {{}}}}}}}}}}",
                       asks)));
  view.put(
      yaml(fmt::format("{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: none, {}}}, "
                       "spec: {{conversion: {{strategy: None}}}}}}",
                       asks)));
  view.put(yaml(
      fmt::format("{{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {{name: api, {}}}, spec: {{}}}}", asks)));
  view.put(
      yaml(fmt::format("{{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {{name: trusting, {}}}, spec: "
                       "{{insecureSkipTLSVerify: true}}}}",
                       asks)));
  EXPECT_EQ(injections(view),
            (std::vector<std::string>{
                R"(ValidatingWebhookConfiguration/hooks {"webhooks":[{"clientConfig":{"caBundle":"UEVN"},"name":"a"},)"
                R"({"clientConfig":{"caBundle":"UEVN"},"name":"b"}]})",
                R"(CustomResourceDefinition/crd {"spec":{"conversion":{"strategy":"Webhook",)"
                R"("webhook":{"clientConfig":{"caBundle":"UEVN"}}}}})",
                "CustomResourceDefinition/none: annotation service.beta.openshift.io/inject-cabundle has no effect: "
                "spec.conversion.strategy is not Webhook",
                R"(APIService/api {"spec":{"caBundle":"UEVN"}})",
                "APIService/trusting: annotation service.beta.openshift.io/inject-cabundle has no effect: "
                "spec.insecureSkipTLSVerify is true (set it to false)"}));
}

TEST(ReduceInjected, KeepsWhatAsksAndNoSchemas) {
  EXPECT_TRUE(
      reduce_injected(
          yaml("{kind: ConfigMap, metadata: {name: a, annotations: {service.beta.openshift.io/inject-cabundle: 'false'}}}"))
          .is_null());
  EXPECT_FALSE(
      reduce_injected(
          yaml("{kind: ConfigMap, metadata: {name: a, annotations: {service.alpha.openshift.io/inject-cabundle: 'true'}}}"))
          .is_null());
  const Json kept = reduce_injected(yaml(
      fmt::format("{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: crd, {}}}, spec: "
                  "{{conversion: {{strategy: None}}, versions: [{{name: v1, schema: {{}}}}]}}}}",
                  asks)));
  EXPECT_EQ(emit_json(*find(kept, {"spec"}), JsonStyle::compact), R"({"conversion":{"strategy":"None"}})");
}

}  // namespace
}  // namespace slipway::components::service_ca
