// Tests the reconciler with an API server in memory: what it applies, waits for and restores, and when it writes nothing.
#include "components/cluster_version/reconciler.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/conditions.h"
#include "support/fake_kube.h"
#include "support/release_signature.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace slipway::components::cluster_version {
namespace {

using namespace std::chrono_literals;
using kube::types::cluster_operators;
using kube::types::cluster_versions;
using kube::types::deployments;
using testing_support::FakeKube;
using testing_support::RealTimeContext;

constexpr Milliseconds limit = 20s;
constexpr std::string_view include = "annotations: {include.release.openshift.io/self-managed-high-availability: 'true'}";

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

Json operator_manifest(std::string_view name, std::string_view version) {
  return yaml(
      fmt::format("{{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {{name: {}, {}}}, "
                  "status: {{versions: [{{name: operator, version: '{}'}}]}}}}",
                  name, include, version));
}
Json deployment_manifest(std::string_view name) {
  return yaml(
      fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {}, namespace: openshift-x, {}}}, "
                  "spec: {{replicas: 1, template: {{spec: {{containers: [{{name: c, "
                  "env: [{{name: KUBERNETES_SERVICE_HOST, value: 127.0.0.1}}]}}]}}}}}}}}",
                  name, include));
}

ReleaseContent release(std::string version) {
  ReleaseContent content{
      .version = version, .image = "r@sha256:" + version, .profile = "self-managed-high-availability", .manifests = {}};
  content.manifests = {
      {"0000_10_x_00_namespace.yaml",
       yaml(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: openshift-x, {}}}}}", include))},
      {"0000_10_x_10_deployment.yaml", deployment_manifest("first")},
      {"0000_10_x_20_clusteroperator.yaml", operator_manifest("first", version)},
      {"0000_20_y_10_deployment.yaml", deployment_manifest("second")},
      {"0000_20_y_20_clusteroperator.yaml", operator_manifest("second", version)},
  };
  return content;
}

class ReconcilerTest : public testing::Test {
 protected:
  ReconcilerTest() {
    kube.serve_openshift();
    kube.put(
        yaml("{apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, "
             "status: {apiServerInternalURI: 'https://api-int.demo.example.com:6443'}}"));
    kube.put(
        yaml("{apiVersion: config.openshift.io/v1, kind: FeatureGate, metadata: {name: cluster}, "
             "status: {featureGates: [{version: '1'}, {version: '2'}]}}"));
    kube.put(yaml("{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: c}}"));
  }
  ~ReconcilerTest() override { stop(); }

  void start(const ReleaseContent& content) {
    content_ = content;
    thread_ = std::jthread([this] {
      Reconciler reconciler(
          kube, content_, [this](const sys::Context&, const std::string& url) { return answer_of_service(url); },
          [this](const sys::Context&, const std::string& image) { return signatures_of(image); });
      result = reconciler.run(test.context());
    });
  }
  void stop() {
    test.stop.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  // Waits until `is_so` accepts the object; the argument is null when the object does not exist.
  void expect(const char* what, const kube::ResourceType& type, const std::string& name,
              const std::function<bool(const Json*)>& is_so) {
    const Result<> seen = kube::wait_until(
        other.context(), kube, what, limit, type, type.namespaced ? "openshift-x" : "", {.fields = "metadata.name=" + name},
        [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
          return is_so(found.empty() ? nullptr : &found.front()) ? std::nullopt : std::optional<std::string>("not so");
        });
    if (seen.ok()) return;
    const std::optional<Json> now = kube.stored(type, type.namespaced ? "openshift-x" : "", name);
    ADD_FAILURE() << seen.error().message() << "\n"
                  << (now ? emit_json(*now, JsonStyle::pretty) : "none") << "\n"
                  << join(test.logged(), "\n");
  }
  void expect_progress(const std::string& text) {
    expect(text.c_str(), cluster_versions, "version", [&](const Json* object) {
      for (const Json& each : find_array(*object, {"status", "conditions"})) {
        if (find_string(each, {"type"}) == "Progressing") {
          return find_string(each, {"message"}).value_or("").find(text) != std::string_view::npos;
        }
      }
      return false;
    });
  }
  void expect_there(const kube::ResourceType& type, const std::string& name) {
    expect(name.c_str(), type, name, [](const Json* object) { return object != nullptr; });
  }

  void say(const std::string& name, std::string_view version, bool available = true, bool works = false) {
    Json object = *kube.stored(cluster_operators, "", name);
    object.as_object()["status"] = yaml(fmt::format(
        "{{conditions: [{{type: Available, status: '{}', message: its own words}}, {{type: Progressing, status: '{}'}}], "
        "versions: [{{name: operator, version: '{}'}}]}}",
        available ? "True" : "False", works ? "True" : "False", version));
    kube.put(object);
  }

  FakeKube kube;
  RealTimeContext test, other;
  Result<> result = Ok{};
  std::function<Result<std::string>(const std::string& url)> answer_of_service = [](const std::string&) -> Result<std::string> {
    return error(Code::unavailable, "no connection");
  };
  std::function<Result<std::vector<std::string>>(const std::string& image)> signatures_of =
      [](const std::string&) -> Result<std::vector<std::string>> { return std::vector<std::string>(); };

 private:
  ReleaseContent content_;
  std::jthread thread_;
};

TEST_F(ReconcilerTest, IsDoneWhenAllOperatorsAreAvailable) {
  start(release("1"));
  expect_progress("5 of 5 done (100% complete), waiting on ClusterOperator first: not Available");
  const Json second = *kube.stored(cluster_operators, "", "second");
  EXPECT_TRUE(find_array(second, {"status", "versions"}).empty()) << "no operator has reported a version";
  const Json deployment = *kube.stored(deployments, "openshift-x", "first");
  EXPECT_NE(emit_json(deployment, JsonStyle::compact).find("api-int.demo.example.com"), std::string::npos);
  say("first", "1");
  say("second", "0", false);
  expect_progress("waiting on ClusterOperator second: not Available: its own words");
  EXPECT_EQ(kube::condition_status(*kube.stored(cluster_versions, "", "version"), "Available"), "False");
  say("second", "0");
  expect_progress("Cluster version is 1");
  const Json version = *kube.stored(cluster_versions, "", "version");
  EXPECT_EQ(kube::condition_status(version, "Available"), "True");
  EXPECT_EQ(kube::condition_status(version, "Failing"), "False");
  EXPECT_EQ(find_string(find_array(version, {"status", "history"}).at(0), {"state"}), "Completed");
  stop();
  EXPECT_EQ(result.error().code(), Code::cancelled);
}

TEST_F(ReconcilerTest, AppliesOtherWorkloadsWhenTheControlPlaneIsAtRest) {
  ReleaseContent content = release("1");
  content.manifests.push_back({"0000_70_z_10_deployment.yaml", deployment_manifest("behind")});
  start(content);
  expect_progress("5 of 6 done (83% complete), waiting on ClusterOperator first");
  say("first", "1", true, true);
  expect_progress("waiting on ClusterOperator second");
  say("second", "1");
  expect("all are available", cluster_versions, "version", [](const Json* object) {
    return kube::condition_text(*object, "Progressing", "message").ends_with("5 of 6 done (83% complete)");
  });
  EXPECT_FALSE(kube.stored(deployments, "openshift-x", "behind")) << "too early";
  say("first", "1");
  expect_there(deployments, "behind");
}

TEST_F(ReconcilerTest, RestoresDeletedObjects) {
  start(release("1"));
  expect_progress("5 of 5 done (100% complete)");
  expect_there(cluster_operators, "first");
  say("first", "1");
  say("second", "1");
  expect_progress("Cluster version is 1");
  for (int round = 0; round < 2; ++round) {
    kube.drop(deployments, "openshift-x", "first");
    expect_there(deployments, "first");
  }
  Json changed = *kube.stored(deployments, "openshift-x", "second");
  changed.as_object()["spec"].as_object()["replicas"] = 7;
  kube.put(changed);
  expect("the replicas", deployments, "second", [](const Json* object) {
    return object && *find(*object, {"spec", "replicas"}) == Json(1);
  });
}

TEST_F(ReconcilerTest, WritesNothingWhenNothingDiffers) {
  start(release("1"));
  expect_progress("5 of 5 done (100% complete)");
  say("first", "1");
  say("second", "1");
  expect_progress("Cluster version is 1");
  kube.forget();
  // A change that causes a reconciliation, and fields that manifests do not have.
  Json noise = *kube.stored(deployments, "openshift-x", "first");
  noise.as_object()["status"] = {{"replicas", 1}};
  kube.put(noise);
  say("first", "1");
  kube.drop(deployments, "openshift-x", "second");
  expect_there(deployments, "second");
  stop();
  EXPECT_EQ(kube.writes(), 1) << "only the Deployment that was gone";
}

TEST_F(ReconcilerTest, UpdatesRunLevelByRunLevel) {
  Json version = *kube.stored(cluster_versions, "", "version");
  version.as_object()["status"] = yaml("{history: [{state: Completed, version: '1', image: 'r@sha256:1', completionTime: x}]}");
  kube.put(version);
  start(release("2"));
  const auto roll_out = [&](const std::string& name) {
    Json object = *kube.stored(deployments, "openshift-x", name);
    object.as_object()["status"] = {
        {"observedGeneration", *find(object, {"metadata", "generation"})}, {"updatedReplicas", 1}, {"availableReplicas", 1}};
    kube.put(object);
  };
  expect_progress(
      "3 of 5 done (60% complete), waiting on Deployment openshift-x/first: the controller has not observed the change yet; "
      "ClusterOperator first: not Available");
  say("first", "1");
  roll_out("first");
  expect_progress("waiting on ClusterOperator first: version 2 of operator is not reached, has 1");
  EXPECT_FALSE(kube.stored(deployments, "openshift-x", "second")) << "too early";
  say("first", "2");
  expect_there(cluster_operators, "second");
  expect_there(deployments, "second");
  expect_progress("5 of 5 done (100% complete)");
  say("second", "2");
  roll_out("second");
  expect_progress("Cluster version is 2");
  EXPECT_EQ(find_array(*kube.stored(cluster_versions, "", "version"), {"status", "history"}).size(), 2u);
}

TEST_F(ReconcilerTest, AppliesNothingBeforeItKnowsTheApiHost) {
  Json version = *kube.stored(cluster_versions, "", "version");
  version.as_object()["status"] = yaml("{history: [{state: Completed, version: '1', image: 'r@sha256:1', completionTime: x}]}");
  kube.put(version);
  const Json infrastructure = *kube.stored(kube::types::infrastructures, "", "cluster");
  kube.drop(kube::types::infrastructures, "", "cluster");
  start(release("1"));
  const auto is_watched = [&](const char* plural) {
    const std::vector<std::string> requests = kube.requests();
    return std::ranges::any_of(
        requests, [&](const std::string& line) { return line.starts_with("WATCH") && line.find(plural) != std::string::npos; });
  };
  while (!is_watched("/clusterversions?") || !is_watched("/featuregates?") || !is_watched("/infrastructures?")) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(kube.stored(deployments, "openshift-x", "first"));
  kube.put(infrastructure);
  for (const char* name : {"first", "second"}) expect_there(deployments, name);
  const Json deployment = *kube.stored(deployments, "openshift-x", "first");
  EXPECT_EQ(*find(deployment, {"metadata", "generation"}), Json(1)) << "written once, with the right content";
}

TEST_F(ReconcilerTest, LeavesOverriddenObjectsAlone) {
  Json version = *kube.stored(cluster_versions, "", "version");
  version.as_object()["spec"] =
      yaml("{clusterID: c, overrides: [{kind: Deployment, group: apps, namespace: openshift-x, name: second, unmanaged: true}]}");
  kube.put(version);
  start(release("1"));
  expect_progress("4 of 4 done (100% complete)");
  EXPECT_FALSE(kube.stored(deployments, "openshift-x", "second"));
  ASSERT_TRUE(kube::merge_patch(other.context(), kube, cluster_versions, "", "version", yaml("{spec: {overrides: null}}")).ok());
  expect_there(deployments, "second");
}

TEST_F(ReconcilerTest, AsksTheUpdateServiceOfItsChannel) {
  std::atomic<bool> is_down = false;
  answer_of_service = [&](const std::string& url) -> Result<std::string> {
    if (is_down || url.find("channel=stable-1&id=c&version=1") == std::string::npos)
      return error(Code::unavailable, "no connection");
    return std::string(
        R"({"nodes":[{"version":"1","payload":"r@sha256:1"},{"version":"1.0.1","payload":"r@sha256:2"}],"edges":[[0,1]]})");
  };
  const auto retrieved = [](const Json* object, std::string_view reason) {
    return object && kube::condition_text(*object, "RetrievedUpdates", "reason") == reason;
  };
  start(release("1"));
  expect("no channel", cluster_versions, "version", [&](const Json* object) { return retrieved(object, "NoChannel"); });
  const auto choose = [&](const char* channel) {
    const Json patch = {{"spec", {{"channel", channel}, {"upstream", "https://u.example/graph"}}}};
    ASSERT_TRUE(kube::merge_patch(other.context(), kube, cluster_versions, "", "version", patch).ok());
  };
  choose("stable-1");
  expect("an update", cluster_versions, "version", [&](const Json* object) {
    return object && find_array(*object, {"status", "availableUpdates"}).size() == 1u &&
           kube::condition_status(*object, "RetrievedUpdates") == "True";
  });
  is_down = true;
  choose("fast-1");
  expect("the failure", cluster_versions, "version", [&](const Json* object) {
    return retrieved(object, "RemoteFailed") && find_array(*object, {"status", "availableUpdates"}).empty();
  });
}

// An installed cluster in which the operator has a Deployment.
class ReconcilerUpdateTest : public ReconcilerTest {
 protected:
  void install(const ReleaseContent& content) {
    kube.put(
        yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: cluster-version-operator, namespace: "
             "openshift-cluster-version}, "
             "spec: {template: {spec: {containers: [{name: c, image: old, args: [start, --release-image=old]}]}}}}"));
    start(content);
    for (const char* name : {"first", "second"}) {
      expect_there(cluster_operators, name);
      say(name, "1");
    }
    expect("the installation ends", cluster_versions, "version",
           [](const Json* object) { return object && kube::condition_status(*object, "Progressing") == "False"; });
  }
  void request(Json more = JsonObject()) {
    more.as_object()["image"] = image;
    const Json patch = {{"spec", {{"desiredUpdate", std::move(more)}}}};
    ASSERT_TRUE(kube::merge_patch(other.context(), kube, cluster_versions, "", "version", patch).ok());
  }
  void expect_acceptance(const std::string& status, const std::string& words) {
    expect(words.c_str(), cluster_versions, "version", [&](const Json* object) {
      return kube::condition_status(*object, "ReleaseAccepted") == status &&
             kube::condition_text(*object, "ReleaseAccepted", "message").find(words) != std::string_view::npos;
    });
  }
  void answer_payload(const std::string& version) {
    const Result<> made = kube::wait_until(other.context(), kube, "the pod", limit, kube::types::pods, space, {},
                                           [](const kube::Objects& pods) -> Result<std::optional<std::string>> {
                                             return pods.empty() ? std::optional<std::string>("none") : std::nullopt;
                                           });
    ASSERT_TRUE(made.ok()) << made.error().message();
    Json pod = kube::list(other.context(), kube, kube::types::pods, space).value().at(0);
    pod.as_object()["status"] =
        yaml(fmt::format("{{phase: Succeeded, containerStatuses: [{{state: {{terminated: {{exitCode: 0, message: '{}'}}}}}}]}}",
                         to_text(Payload{.version = version})));
    kube.put(pod);
  }

  // A release that trusts `key`.
  ReleaseContent signed_release() const {
    Json keys = yaml(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: keys, namespace: openshift-x, annotations: "
        "{include.release.openshift.io/self-managed-high-availability: 'true', release.openshift.io/verification-config-map: "
        "''}}}");
    keys.as_object()["data"] = {{"verifier-public-key-release", key.public_pem()}};
    ReleaseContent content = release("1");
    content.manifests.push_back({"0000_10_x_30_keys.yaml", std::move(keys)});
    return content;
  }
  // The operator of the requested release starts. Waits for its entry in the history.
  void start_next(const std::function<bool(const Json& entry)>& is_so) {
    stop();
    test.stop = std::stop_source();
    ReleaseContent next = release("1.0.1");
    next.image = image;
    start(next);
    expect("the history", cluster_versions, "version", [&](const Json* object) {
      const Json& newest = find_array(*object, {"status", "history"}).at(0);
      return find_string(newest, {"version"}) == "1.0.1" && is_so(newest);
    });
  }

  const testing_support::ReleaseKey key;
  const std::string image = "r.example/release@sha256:" + std::string(64, '2'), space = "openshift-cluster-version";
};

TEST_F(ReconcilerUpdateTest, HandsOverToTheReleaseThatIsAskedFor) {
  install(release("1"));
  request();
  expect_acceptance("Unknown", "Retrieving and verifying payload");
  answer_payload("1.0.1");
  expect_acceptance("True", "1.0.1");
  const Json deployment = *kube.stored(deployments, space, "cluster-version-operator");
  EXPECT_EQ(find_string(find_array(deployment, {"spec", "template", "spec", "containers"}).at(0), {"image"}), image);
}

TEST_F(ReconcilerUpdateTest, ASignedReleaseIsVerifiedAndTheNextOperatorRecordsIt) {
  const release::Digest digest = release::Digest::parse("sha256:" + std::string(64, '2')).value();
  install(signed_release());
  request();
  expect_acceptance("False", "The update cannot be verified: " + digest.text() + ": no signature found");
  EXPECT_TRUE(kube::list(other.context(), kube, kube::types::pods, space).value().empty()) << "nothing of the image runs";
  Json stored = yaml(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: s, namespace: openshift-config-managed, labels: "
      "{release.openshift.io/verification-signatures: ''}}}");
  stored.as_object()["binaryData"] = {{"sha256-" + digest.hex() + "-1", base64_encode(key.sign(digest, "1.0.1"))}};
  kube.put(stored);
  answer_payload("1.0.1");
  expect_acceptance("True", "1.0.1");
  start_next([](const Json& entry) { return entry.at("verified") == Json(true); });
}

TEST_F(ReconcilerUpdateTest, ForceIsRecordedInTheHistory) {
  install(signed_release());
  request({{"force", true}});
  answer_payload("1.0.1");
  expect_acceptance("True", "1.0.1");
  start_next([](const Json& entry) {
    return entry.at("verified") == Json(false) &&
           text_of(entry, {"acceptedRisks"}).find("cannot be verified") != std::string::npos;
  });
}

TEST_F(ReconcilerTest, RemovesWhatEarlierReleasesHad) {
  kube.put(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: dropped, namespace: openshift-x}}"));
  ReleaseContent content = release("1");
  content.manifests.push_back(
      {"0000_20_y_30_dropped.yaml",
       yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: dropped, namespace: openshift-x, annotations: "
            "{include.release.openshift.io/self-managed-high-availability: 'true', release.openshift.io/delete: 'true'}}}")});
  start(content);
  for (const char* name : {"first", "second"}) {
    expect_there(cluster_operators, name);
    say(name, "1");
  }
  expect_progress("Cluster version is 1");
  EXPECT_FALSE(kube.stored(kube::types::config_maps, "openshift-x", "dropped"));
}

TEST_F(ReconcilerTest, ReportsRefusedManifestsAndRetries) {
  std::atomic<int> refusals = 2;
  kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "PATCH" || request.path.find("deployments/second") == std::string::npos || refusals-- <= 0) return {};
    return error(Code::invalid, "no such field");
  };
  start(release("1"));
  expect("the failure", cluster_versions, "version",
         [](const Json* object) { return object && kube::condition_status(*object, "Failing") == "True"; });
  expect_there(deployments, "second");
  expect("the end of it", cluster_versions, "version",
         [](const Json* object) { return object && kube::condition_status(*object, "Failing") == "False"; });
}

TEST_F(ReconcilerTest, AnApiServerThatRestartsIsNoFailure) {
  const std::string_view dropped = "apiVersion: v1, kind: ConfigMap, metadata: {name: dropped, namespace: openshift-x";
  kube.put(yaml(fmt::format("{{{}}}}}", dropped)));
  ReleaseContent content = release("1");
  content.manifests.push_back(
      {"0000_20_y_30_dropped.yaml",
       yaml(fmt::format("{{{}, annotations: {{include.release.openshift.io/self-managed-high-availability: 'true', "
                        "release.openshift.io/delete: 'true'}}}}}}",
                        dropped))});
  std::atomic<int> refusals = 2;
  std::atomic<bool> is_reported = false;
  kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    const std::string body = request.body ? emit_json(*request.body, JsonStyle::compact) : "";
    if (body.find("ManifestsNotApplied") != std::string::npos) is_reported = true;
    if (request.method != "DELETE" || refusals-- <= 0) return {};
    return error(Code::unavailable, "the apiserver is shutting down");
  };
  start(content);
  for (const char* name : {"first", "second"}) {
    expect_there(cluster_operators, name);
    say(name, "1");
  }
  expect_progress("Cluster version is 1");
  EXPECT_LE(refusals, 0);
  EXPECT_FALSE(is_reported);
  EXPECT_FALSE(kube.stored(kube::types::config_maps, "openshift-x", "dropped"));
}

}  // namespace
}  // namespace slipway::components::cluster_version
