#include "components/cloud_credential/operator.h"

#include "base/yaml.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::components::cloud_credential {
namespace {

using testing_support::FakeKube;

constexpr const char* space = "openshift-cloud-credential-operator";

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

Json settings(std::string_view mode) {
  return yaml(
      fmt::format("{{apiVersion: operator.openshift.io/v1, kind: CloudCredential, metadata: {{name: cluster}}, "
                  "spec: {{credentialsMode: '{}'}}}}",
                  mode));
}
Json infrastructure(std::string_view platform) {
  return yaml(
      fmt::format("{{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {{name: cluster}}, "
                  "status: {{platformStatus: {{type: {}}}}}}}",
                  platform));
}
Json request(std::string_view name, std::string_view secret) {
  return yaml(
      fmt::format("{{apiVersion: cloudcredential.openshift.io/v1, kind: CredentialsRequest, "
                  "metadata: {{namespace: {}, name: {}}}, spec: {{secretRef: {{namespace: n, name: {}}}}}}}",
                  space, name, secret));
}
Json secret(std::string_view name) {
  return yaml(
      fmt::format("{{apiVersion: v1, kind: Secret, metadata: {{namespace: n, name: {}}}, data: {{key: aGlkZGVu}}}}", name));
}

std::string condition(const View& view, std::string_view type) {
  const Result<DesiredState> desired_state = plan_credentials_operator(view.snapshot());
  EXPECT_TRUE(desired_state.ok());
  for (const Condition& each : desired_state.value().conditions) {
    if (each.type == type) return fmt::format("{} {}: {}", each.is_true, each.reason, each.message);
  }
  return "none";
}

TEST(CredentialsOperator, CreatesNoCredentials) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"", "None", false},       {"", "External", false},       {"", "BareMetal", false},
      {"Manual", "None", false}, {"Manual", "AWS", false},      {"", "AWS", true},
      {"Mint", "None", true},    {"Passthrough", "None", true}, {"Passthrough", "GCP", true},
  };
  for (const auto& [mode, platform, degraded] : cases) {
    View view;
    view.put(settings(mode));
    view.put(infrastructure(platform));
    EXPECT_EQ(condition(view, "CredentialsModeDegraded").starts_with("true ModeNotSupported: "), degraded)
        << mode << " on " << platform;
    EXPECT_TRUE(condition(view, "CredentialsAvailable").starts_with("true "));
    EXPECT_EQ(condition(view, "CredentialsProgressing"), "false AsExpected: ");
  }
  View view;
  view.put(settings("Mint"));
  view.put(infrastructure("None"));
  EXPECT_EQ(condition(view, "CredentialsModeDegraded"),
            "true ModeNotSupported: spec.credentialsMode of CloudCredential cluster is Mint on platform None, but this release "
            "creates no credentials (set it to Manual and create the Secrets that CredentialsRequests name)");
  view.put(settings(""));
  view.put(infrastructure("AWS"));
  EXPECT_NE(condition(view, "CredentialsModeDegraded").find("is not set on platform AWS"), std::string::npos);
}

TEST(CredentialsOperator, NamesSecretsThatAreMissing) {
  View view;
  view.put(settings("Manual"));
  EXPECT_EQ(condition(view, "CredentialsAvailable"),
            "true OperatorDisabledByAdmin: credentials are managed by the administrator");
  for (const char* name : {"a", "b", "c", "d", "e"}) view.put(request(name, name));
  view.put(request("again", "a"));
  EXPECT_EQ(condition(view, "CredentialsAvailable"), "true OperatorDisabledByAdmin: credentials are managed by the administrator")
      << "the Secrets have not been checked yet";
  view.put(secret_fact({"n", "a"}, true));
  view.put(secret_fact({"n", "b"}, false));
  EXPECT_EQ(condition(view, "CredentialsAvailable"),
            "true OperatorDisabledByAdmin: credentials are managed by the administrator; of 5 Secrets that CredentialsRequests "
            "ask for, "
            "1 is missing: n/b");
  for (const char* name : {"c", "d", "e"}) view.put(secret_fact({"n", name}, false));
  EXPECT_EQ(condition(view, "CredentialsAvailable"),
            "true OperatorDisabledByAdmin: credentials are managed by the administrator; of 5 Secrets that CredentialsRequests "
            "ask for, "
            "4 are missing: n/b, n/c, n/d, and 1 more");
}

TEST(CredentialsOperator, ReportsSecretsThatItMayNotRead) {
  View view;
  view.put(settings("Manual"));
  for (const char* name : {"a", "b"}) view.put(request(name, name));
  view.put(secret_fact({"n", "a"}, false));
  view.put(secret_fact({"n", "b"}, std::nullopt));
  EXPECT_EQ(condition(view, "CredentialsAvailable"),
            "true OperatorDisabledByAdmin: credentials are managed by the administrator; 1 of 2 Secrets that CredentialsRequests "
            "ask for "
            "cannot be checked (bind ClusterRole openshift-cloud-credential-operator-secrets in their namespaces); "
            "of 2 Secrets that CredentialsRequests ask for, 1 is missing: n/a");
}

TEST(CredentialsOperator, DoesNotChangeSettings) {
  View view;
  view.put(settings("Manual"));
  const Result<DesiredState> desired_state = plan_credentials_operator(view.snapshot());
  ASSERT_TRUE(desired_state.ok());
  ASSERT_EQ(desired_state.value().plan.desired_objects.size(), 2u);
  EXPECT_EQ(desired_state.value().plan.desired_objects[0].type, kube::types::custom_resource_definitions);
  EXPECT_EQ(desired_state.value().plan.desired_objects[1].type, kube::types::credential_settings);
  EXPECT_TRUE(is_fulfilled(desired_state.value().plan.desired_objects[1], view.snapshot()));
  EXPECT_FALSE(is_fulfilled(desired_state.value().plan.desired_objects[1], View().snapshot())) << "made where there are none";
}

// Uses an API server in memory; the test itself puts the objects of the operator's watch into the view.
TEST(CredentialsOperator, LooksForSecrets) {
  testing_support::RealTimeContext test;
  FakeKube kube;
  kube.put(secret("a"));
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.path.ends_with("/secrets/hidden")) return error(Code::denied, "forbidden");
    return std::nullopt;
  };
  View view;
  view.put(request("one", "a"));
  view.put(request("two", "b"));
  std::stop_source stop;
  std::jthread thread([&] { (void)observe_secrets(test.context().with_stop(stop.get_token()), kube, view); });
  const auto wait_for = [&](std::string_view text) {
    view.put(settings("Manual"));
    const SteadyTime end = test.clock.steady() + Seconds(20);
    std::string message;
    for (;;) {
      const std::uint64_t changes = view.changed().count();
      message = condition(view, "CredentialsAvailable");
      if (message.find(text) != std::string::npos || test.clock.steady() >= end) break;
      test.clock.wait(end, {}, &view.changed(), changes);
    }
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  wait_for("1 is missing: n/b");
  kube.put(secret("b"));
  view.put(request("three", "c"));
  wait_for("of 3 Secrets that CredentialsRequests ask for, 1 is missing: n/c");
  view.put(request("four", "hidden"));
  wait_for("1 of 4 Secrets that CredentialsRequests ask for cannot be checked");
  const Snapshot seen = view.snapshot();
  for (const Json* fact : seen.list({std::string(kube::private_domain), "v1", "secretfacts", "SecretFact"})) {
    EXPECT_EQ(emit_json(*fact, JsonStyle::compact).find("aGlkZGVu"), std::string::npos) << "contents stay where they are";
  }
  EXPECT_EQ(seen.list({std::string(kube::private_domain), "v1", "secretfacts", "SecretFact"}).size(), 4u);
  stop.request_stop();
}

}  // namespace
}  // namespace slipway::components::cloud_credential
