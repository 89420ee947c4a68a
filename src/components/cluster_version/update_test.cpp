#include "components/cluster_version/update.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

const std::string next_image = "r.example/release@sha256:" + std::string(64, '2');
const OwnRelease own{.version = "1.2.3", .image = "r.example/release@sha256:" + std::string(64, '1'), .node = "master-0"};

Json yaml(const std::string& text) { return parse_yaml(text, "x").value().value; }

Json cluster_version(const std::string& desired, const std::string& status = "{}") {
  return yaml(
      fmt::format("{{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {{name: version}}, "
                  "spec: {{{}}}, status: {}}}",
                  desired.empty() ? "" : "desiredUpdate: " + desired, status));
}

std::string asks_for(const std::string& more = "") { return fmt::format("{{image: '{}'{}}}", next_image, more); }

struct UpdateTest : testing::Test {
  UpdateStep step(const Json& version, Mode mode = Mode::reconciling) {
    return next_update_step(version, own, mode, view.snapshot(), {&node});
  }
  void put_pod(const std::string& status) {
    const View empty;
    Json pod = *next_update_step(cluster_version(asks_for()), own, Mode::reconciling, empty.snapshot(), {}).create_pod;
    pod.as_object()["status"] = yaml(status);
    view.put(std::move(pod));
  }
  void put_payload(const std::string& version, const std::string& kubernetes = "1.36.3") {
    put_pod(fmt::format("{{phase: Succeeded, containerStatuses: [{{state: {{terminated: {{exitCode: 0, message: '{}'}}}}}}]}}",
                        to_text({.version = version, .kubernetes = kubernetes, .manifests = 9})));
  }
  std::string refusal(const UpdateStep& of) {
    EXPECT_EQ(of.acceptance.status, "False");
    EXPECT_EQ(of.hand_over_to, std::nullopt);
    return of.acceptance.reason + ": " + of.acceptance.message;
  }

  View view;
  Json node = yaml("{metadata: {name: worker-0}, status: {nodeInfo: {kubeletVersion: v1.35.1}}}");
};

TEST_F(UpdateTest, WithoutAnotherReleaseThereIsNothingToDo) {
  for (const std::string& desired : {std::string(), std::string("{version: 1.2.3}"), fmt::format("{{image: '{}'}}", own.image)}) {
    const UpdateStep nothing = step(cluster_version(desired));
    EXPECT_EQ(nothing.acceptance.status, "True") << desired;
    EXPECT_EQ(nothing, (UpdateStep{.acceptance = nothing.acceptance}));
  }
}

TEST_F(UpdateTest, APodReadsThePayloadAndThenTheOperatorHandsOver) {
  const Json version = cluster_version(asks_for(", version: 1.2.4"));
  const UpdateStep first = step(version);
  EXPECT_EQ(first.acceptance.status, "Unknown");
  ASSERT_TRUE(first.create_pod);
  EXPECT_EQ(find_string(*first.create_pod, {"spec", "nodeName"}), "master-0");
  EXPECT_EQ(find_array(*first.create_pod, {"spec", "containers"}).size(), 1u);
  put_pod("{phase: Pending, containerStatuses: [{state: {waiting: {reason: ContainerCreating}}}]}");
  const UpdateStep waits = step(version);
  EXPECT_EQ(waits.acceptance.status, "Unknown");
  EXPECT_FALSE(waits.create_pod);
  // The container has ended; the pod follows.
  put_pod(fmt::format("{{phase: Running, containerStatuses: [{{state: {{terminated: {{exitCode: 0, message: '{}'}}}}}}]}}",
                      to_text(Payload{.version = "1.2.4"})));
  const UpdateStep ready = step(version);
  EXPECT_EQ(ready.acceptance.status, "True");
  EXPECT_EQ(ready.hand_over_to, next_image);
  EXPECT_TRUE(ready.remove_pods.empty());
  // The request is taken back.
  EXPECT_EQ(step(cluster_version("")).remove_pods.size(), 1u);
}

TEST_F(UpdateTest, WhatIsWrongWithARequestIsTold) {
  struct Case {
    const char* what;
    std::string desired;
    Mode mode;
    std::string refusal;
  };
  const std::vector<Case> cases = {
      {"installation", asks_for(), Mode::initializing, "Initializing: the installation is not complete yet"},
      {"unknown version", "{version: 1.3.0}", Mode::reconciling,
       "InvalidClusterVersion: spec.desiredUpdate: version 1.3.0 is not in status.availableUpdates (set "
       "spec.desiredUpdate.image)"},
      {"tag", "{image: 'r.example/release:1'}", Mode::updating,
       "RetrievePayload: spec.desiredUpdate: image r.example/release:1 has no digest; only a digest says which release it is"},
      {"no image", "{image: release}", Mode::reconciling, "RetrievePayload: spec.desiredUpdate: "},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal(step(cluster_version(c.desired), c.mode)).find(c.refusal), 0u) << c.what;
}

TEST_F(UpdateTest, AVersionIsLookedUpInTheAvailableUpdates) {
  const UpdateStep made = step(
      cluster_version("{version: 1.2.4}", fmt::format("{{availableUpdates: [{{version: 1.2.4, image: '{}'}}]}}", next_image)));
  ASSERT_TRUE(made.create_pod);
  EXPECT_EQ(find_string(find_array(*made.create_pod, {"spec", "containers"}).at(0), {"image"}), next_image);
}

TEST_F(UpdateTest, WhatTheRegistryAndTheImageAnswerIsTold) {
  const Json version = cluster_version(asks_for());
  put_pod("{phase: Pending, containerStatuses: [{state: {waiting: {reason: ImagePullBackOff, message: 'no such host'}}}]}");
  EXPECT_EQ(refusal(step(version)),
            "RetrievePayload: Retrieving payload " + next_image + " failed: ImagePullBackOff: no such host");
  put_pod(
      "{phase: Running, containerStatuses: [{state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, "
      "lastState: {terminated: {exitCode: 1, message: 'x.yaml: not YAML'}}}]}");
  EXPECT_EQ(refusal(step(version)), "RetrievePayload: Retrieving payload " + next_image + " failed: x.yaml: not YAML");
  put_payload("1.2.5");
  EXPECT_EQ(refusal(step(cluster_version(asks_for(", version: 1.2.4")))),
            "VerifyPayloadVersion: image " + next_image + " is version 1.2.5, but version 1.2.4 is asked for");
}

TEST_F(UpdateTest, PreconditionsHoldUnlessForced) {
  struct Case {
    const char* what;
    std::string version, kubernetes, history, failed;  // failed: the name of the precondition, or ""
  };
  const std::string before =
      fmt::format("{{history: [{{version: 1.2.3, image: '{}'}}, {{version: 1.2.2, image: x}}]}}", own.image);
  const std::vector<Case> cases = {
      {"patch", "1.2.4", "1.36.3", "{}", ""},
      {"minor", "1.3.0", "1.37.0", "{}", "ClusterVersionUpgradeable"},
      {"two minors", "1.4.0", "1.36.3", "{}", "MultipleMinorVersionsUpdate"},
      {"major", "2.0.0", "1.36.3", "{}", "MajorVersionUpdate"},
      {"older", "1.2.1", "1.36.3", before, "LowDesiredVersion"},
      {"the one before", "1.2.2", "1.36.3", before, ""},
      {"older minor", "1.1.9", "1.36.3", before, "LowDesiredVersion"},
      {"old kubelets", "1.2.4", "1.39.0", "{}", "KubeletVersionSkew"},
      {"new kubelets", "1.2.4", "1.34.0", "{}", "KubeletVersionSkew"},
      {"kubernetes unknown", "1.2.4", "", "{}", ""},
      {"no version", "latest", "1.36.3", "{}", "InvalidVersion"},
  };
  view.put(
      yaml("{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: machine-config}, status: {conditions: "
           "[{type: Upgradeable, status: 'False', reason: PoolUpdating, message: worker is updating}]}}"));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    put_payload(c.version, c.kubernetes);
    const UpdateStep made = step(cluster_version(asks_for(), c.history));
    if (c.failed.empty()) {
      EXPECT_EQ(made.hand_over_to, next_image) << made.acceptance.message;
    } else {
      EXPECT_NE(refusal(made).find(c.failed + ": "), std::string::npos) << made.acceptance.message;
    }
    EXPECT_EQ(step(cluster_version(asks_for(", force: true"), c.history)).hand_over_to, next_image);
  }
}

TEST_F(UpdateTest, TheDeploymentGetsTheImage) {
  const Json deployment =
      yaml("{spec: {template: {spec: {containers: [{image: old, args: [start, --release-image=old, --v=2]}, {image: other}]}}}}");
  const Result<Json> made = with_release_image(deployment, "new");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(
      made.value(),
      yaml(
          "{spec: {template: {spec: {containers: [{image: new, args: [start, --release-image=new, --v=2]}, {image: other}]}}}}"));
  EXPECT_EQ(with_release_image(yaml("{spec: {}}"), "new").error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::components::cluster_version
