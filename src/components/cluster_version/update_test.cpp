#include "components/cluster_version/update.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "support/release_signature.h"

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
    facts.nodes = {&node};
    return next_update_step(version, mine, mode, view.snapshot(), facts);
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
    EXPECT_EQ(of.hand_over, std::nullopt);
    return of.acceptance.reason + ": " + of.acceptance.message;
  }

  View view;
  OwnRelease mine = own;
  UpdateFacts facts{.now = parse_rfc3339("2026-11-27T12:00:00Z").value()};
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
  EXPECT_EQ(ready.hand_over, HandOver{.image = next_image});
  EXPECT_NE(ready.acceptance.message.find("not verified, because release 1.2.3 has no keys"), std::string::npos);
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
      {"minor without a backup", "1.3.0", "1.37.0", "{}", "EtcdRecentBackup: no backup of etcd is known (run `slipway backup`"},
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
      EXPECT_EQ(made.hand_over, HandOver{.image = next_image}) << made.acceptance.message;
    } else {
      EXPECT_NE(refusal(made).find(c.failed), std::string::npos) << made.acceptance.message;
    }
    const UpdateStep forced = step(cluster_version(asks_for(", force: true"), c.history));
    ASSERT_TRUE(forced.hand_over);
    EXPECT_EQ(forced.hand_over->image, next_image);
    EXPECT_EQ(forced.hand_over->accepted_risks.empty(), c.failed.empty()) << forced.hand_over->accepted_risks;
  }
}

TEST_F(UpdateTest, AnotherMinorVersionNeedsARecentBackup) {
  struct Case {
    const char* completed;
    const char* refusal;  // empty: accepted
  };
  for (const Case& c : {Case{"2026-11-27T11:59:00Z", ""}, Case{"2026-11-26T12:00:01Z", ""},
                        Case{"2026-11-26T11:59:59Z", "the last backup of etcd is older than 24 h: 2026-11-26T11:59:59Z"},
                        Case{"yesterday", "no backup of etcd is known"}}) {
    view.put(
        yaml(fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: recent-backup, namespace: openshift-etcd}}, data: "
                         "{{completed: '{}'}}}}",
                         c.completed)));
    put_payload("1.3.0");
    const UpdateStep made = step(cluster_version(asks_for()));
    if (std::string_view(c.refusal).empty()) {
      EXPECT_TRUE(made.hand_over) << made.acceptance.message;
    } else {
      EXPECT_NE(refusal(made).find(c.refusal), std::string::npos) << made.acceptance.message;
    }
    put_payload("1.2.4");
    EXPECT_TRUE(step(cluster_version(asks_for())).hand_over) << "a patch needs none";
  }
}

struct SignedUpdateTest : UpdateTest {
  SignedUpdateTest() { mine.keys = {key.trusted("release")}; }
  void find_beside(std::vector<std::string> envelopes, std::string failure = "") {
    facts.signatures = {.image = next_image, .envelopes = std::move(envelopes), .failure = std::move(failure)};
  }
  void store(const std::string& envelope) {
    Json object = yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: any, namespace: openshift-config-managed}}");
    object.as_object()["binaryData"] = {{fmt::format("sha256-{}-1", digest.hex()), base64_encode(envelope)}};
    view.put(std::move(object));
  }

  testing_support::ReleaseKey key, foreign;
  release::Digest digest = release::Digest::parse("sha256:" + std::string(64, '2')).value();
};

TEST_F(SignedUpdateTest, NothingOfTheImageRunsBeforeItsSignatureIsVerified) {
  const Json version = cluster_version(asks_for());
  const UpdateStep looks = step(version);
  EXPECT_EQ(looks.acceptance.status, "Unknown");
  EXPECT_FALSE(looks.create_pod);
  find_beside({});
  EXPECT_EQ(refusal(step(version)), "RetrievePayload: The update cannot be verified: " + digest.text() + ": no signature found");
  EXPECT_FALSE(step(version).create_pod);
  find_beside({}, "r.example: no connection");
  EXPECT_NE(refusal(step(version)).find("signatures beside the image cannot be read: r.example: no connection"),
            std::string::npos);
  find_beside({foreign.sign(digest, "1.2.4")});
  EXPECT_NE(refusal(step(version)).find("not signed by a trusted key (release)"), std::string::npos);
  find_beside({foreign.sign(digest, "1.2.4"), key.sign(digest, "1.2.4")});
  EXPECT_TRUE(step(version).create_pod);
  put_payload("1.2.4");
  EXPECT_EQ(step(version).hand_over, (HandOver{.image = next_image, .is_verified = true}));
}

TEST_F(SignedUpdateTest, AStoredSignatureNeedsNoRegistry) {
  store(key.sign(digest, "1.2.4"));
  EXPECT_TRUE(step(cluster_version(asks_for())).create_pod);
  put_payload("1.2.4");
  EXPECT_EQ(step(cluster_version(asks_for())).hand_over, (HandOver{.image = next_image, .is_verified = true}));
}

TEST_F(SignedUpdateTest, ASignatureIsForOneVersion) {
  store(key.sign(digest, "1.2.4"));
  put_payload("1.2.5");
  for (const char* force : {"", ", force: true"}) {
    EXPECT_NE(refusal(step(cluster_version(asks_for(force)))).find("is version 1.2.5, but its signature says version 1.2.4"),
              std::string::npos);
  }
}

TEST_F(SignedUpdateTest, ForceSkipsTheSignatureAndIsRecorded) {
  const Json version = cluster_version(asks_for(", force: true"));
  find_beside({});
  EXPECT_TRUE(step(version).create_pod);
  put_payload("1.2.4");
  const UpdateStep forced = step(version);
  ASSERT_TRUE(forced.hand_over) << forced.acceptance.message;
  EXPECT_FALSE(forced.hand_over->is_verified);
  EXPECT_EQ(forced.hand_over->accepted_risks, "The update cannot be verified: " + digest.text() + ": no signature found");
}

TEST_F(SignedUpdateTest, OnlyRequestsForOtherImagesAreVerified) {
  EXPECT_EQ(image_to_verify(cluster_version(asks_for()), mine), next_image);
  EXPECT_EQ(image_to_verify(cluster_version(""), mine), "");
  EXPECT_EQ(image_to_verify(cluster_version(fmt::format("{{image: '{}'}}", mine.image)), mine), "");
  EXPECT_EQ(image_to_verify(cluster_version("{image: 'r.example/release:1'}"), mine), "");
}

TEST_F(UpdateTest, TheNextOperatorKnowsHowItsReleaseWasAccepted) {
  Json deployment = yaml(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: cluster-version-operator, namespace: openshift-cluster-version, "
      "annotations: {a: b}}, spec: {template: {spec: {containers: [{image: old, args: [--release-image=old]}]}}}}");
  const HandOver accepted{.image = "new", .is_verified = true, .accepted_risks = "a risk"};
  deployment = with_release(deployment, accepted).value();
  EXPECT_EQ(text_of(deployment, {"metadata", "annotations", "a"}), "b");
  view.put(deployment);
  EXPECT_EQ(hand_over_of(view.snapshot(), "new"), accepted);
  EXPECT_EQ(hand_over_of(view.snapshot(), "other"), HandOver{.image = "other"});
}

TEST_F(UpdateTest, TheDeploymentGetsTheImage) {
  const Json deployment =
      yaml("{spec: {template: {spec: {containers: [{image: old, args: [start, --release-image=old, --v=2]}, {image: other}]}}}}");
  const Result<Json> made = with_release(deployment, {.image = "new"});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(
      Json({{"spec", made->at("spec")}}),
      yaml(
          "{spec: {template: {spec: {containers: [{image: new, args: [start, --release-image=new, --v=2]}, {image: other}]}}}}"));
  EXPECT_EQ(with_release(yaml("{spec: {}}"), {.image = "new"}).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::components::cluster_version
