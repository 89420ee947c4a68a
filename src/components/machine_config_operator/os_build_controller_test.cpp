#include "components/machine_config_operator/os_build_controller.h"

#include "components/machine_config_operator/inputs.h"
#include "components/machine_config_operator/os_build_objects.h"
#include "components/render/manifest.h"
#include "ignition/make.h"
#include "kube/conditions.h"
#include "machineconfig/labels.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/os_build_job.h"
#include "machineconfig/os_build_limits.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace slipway::components::machine_config_operator {
namespace {

namespace mc = machineconfig;
namespace types = kube::types;
using testing_support::FakeKube;

const std::string digest_a = "sha256:" + std::string(64, 'a'), digest_b = "sha256:" + std::string(64, 'b');
const std::string repository = "registry.example.com/team/os";
const std::string space(os_build_space);

// A cluster with a MachineOSConfig for pool worker, without a controller of Jobs.
class Cluster {
 public:
  Cluster() {
    kube.serve_openshift();
    for (const slipway::kube::ResourceType& type : all_types()) kube.serve(type);
    kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
    kube.put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
    put_controller("0.1.0");
    put_rendered("rendered-worker-1", "one");
    Json pool = built_in_pool("worker");
    pool.as_object()["spec"].as_object()["configuration"] = JsonObject{{"name", "rendered-worker-1"}};
    kube.put(std::move(pool));
    put_os_config();
  }

  void put_controller(const std::string& version) {
    kube.put(
        mc::to_json(mc::ControllerConfig{.version = version,
                                         .platform = "none",
                                         .images = {{"machineConfigOperator", "mco@sha256:1"}},
                                         .os_image = "r.example.com/os@" + digest_a,
                                         .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo:6443"}}}},
                                         .proxy = {{"status", {{"httpProxy", "http://proxy:3128"}}}}}));
  }
  void put_rendered(const std::string& name, std::string_view motd) {
    mc::MachineConfig config{.name = name, .os_image_url = "r.example.com/os@" + digest_a};
    config.config.ignition.version = ignition::newest_version;
    ignition::put(config.config, ignition::make_file("/etc/motd", motd, 0644));
    kube.put(mc::to_json(config));
  }
  void set_config(const std::string& name) {
    Json pool = *kube.stored(types::machine_config_pools, "", "worker");
    pool.as_object()["spec"].as_object()["configuration"] = JsonObject{{"name", name}};
    kube.put(std::move(pool));
  }
  void put_os_config(const std::string& push_spec = repository + ":latest", JsonObject annotations = {}) {
    std::optional<Json> known = kube.stored(types::machine_os_configs, "", "worker");
    Json object = {
        {"apiVersion", mc::api_version},
        {"kind", "MachineOSConfig"},
        {"metadata", {{"name", "worker"}, {"annotations", std::move(annotations)}}},
        {"spec",
         {{"machineConfigPool", {{"name", "worker"}}},
          {"imageBuilder", {{"imageBuilderType", "Job"}}},
          {"renderedImagePushSecret", {{"name", "push"}}},
          {"renderedImagePushSpec", push_spec},
          {"containerFile", JsonArray{JsonObject{{"containerfileArch", "NoArch"}, {"content", "FROM configs\nRUN true\n"}}}}}}};
    if (known) {
      if (const Json* status = find(*known, {"status"})) object.as_object()["status"] = *status;
    }
    kube.put(std::move(object));
  }
  void put_node(const std::string& image) {
    kube.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata", {{"name", "worker-0"}, {"annotations", {{mc::current_image, image}, {mc::desired_image, image}}}}}});
  }

  Snapshot snapshot() const {
    View view;
    for (const slipway::kube::ResourceType& type : all_types()) {
      for (const Json& object : kube.stored_all(type)) view.put(object);
    }
    return view.snapshot();
  }

  OsBuildsPlan plan() { return controller.plan(snapshot(), now); }

  // Plans and applies until nothing changes. Returns the images of the last plan.
  PoolImages settle() {
    for (int round = 0; round < 30; ++round) {
      const Snapshot seen = snapshot();
      OsBuildsPlan made = controller.plan(seen, now);
      for (const Notice& notice : made.plan.notices) events.push_back(notice.reason);
      int changes = 0;
      for (const DesiredObject& desired : made.plan.desired_objects) {
        if (is_fulfilled(desired, seen)) continue;
        ++changes;
        apply(desired);
      }
      for (const Task& task : made.plan.tasks) {
        ++changes;
        EXPECT_TRUE(task.run(test.context()).ok());
      }
      if (changes == 0) return made.images;
    }
    ADD_FAILURE() << "there is no end of it";
    return {};
  }

  std::vector<Json> builds() const { return kube.stored_all(types::machine_os_builds); }
  std::string build_name() const { return builds().empty() ? "" : std::string(kube::name_of(builds()[0])); }
  std::string phase() const {
    std::string all;
    if (builds().empty()) return "none";
    for (const char* each : {"Prepared", "Building", "Failed", "Interrupted", "Succeeded"}) {
      if (kube::condition_status(builds()[0], each) == "True") all += (all.empty() ? "" : ",") + std::string(each);
    }
    return all;
  }
  std::string reason() const { return std::string(kube::condition_text(builds()[0], phase(), "reason")); }
  std::string message() const { return std::string(kube::condition_text(builds()[0], phase(), "message")); }

  std::optional<Json> job() const { return kube.stored(types::jobs, space, mc::job_name(build_name())); }
  bool is_without_cache() const { return emit_json(*job(), JsonStyle::compact).find("--no-cache") != std::string::npos; }
  void set_job(JsonObject status) {
    Json changed = *job();
    changed.as_object()["status"] = std::move(status);
    kube.put(std::move(changed));
  }
  static JsonObject ended(const char* type, const char* message = "") {
    JsonArray conditions = {JsonObject{{"type", type}, {"status", "True"}, {"message", message}}};
    return {{"conditions", std::move(conditions)}, {"completionTime", "2026-11-21T00:10:00Z"}};
  }
  mc::OsImage image(const std::string& digest) const {
    const Json inputs = *kube.stored(types::config_maps, space, mc::input_name(build_name(), 0));
    const mc::BuildInputs unpacked = mc::unpack_inputs({text_of(inputs, {"data", mc::input_key})}).value();
    return {.build = unpacked.build, .digest = digest, .started = now, .ended = now, .is_pushed = true};
  }
  void put_result(const Json& object) {
    Json put = object;
    put.as_object()["metadata"].as_object()["namespace"] = space;
    kube.put(std::move(put));
  }
  void succeed(const std::string& digest = digest_b) {
    put_result(mc::result_object(image(digest)));
    set_job(ended("Complete"));
  }
  std::size_t objects() const {
    return std::ranges::count_if(kube.stored_all(types::config_maps),
                                 [](const Json& each) {
                                   return find(each, {"metadata", "labels", mc::os_build_label});
                                 }) +
           kube.stored_all(types::jobs).size();
  }

  testing_support::TestContext test;
  FakeKube kube;
  View view;
  OsBuildController controller{kube, view, "0.1.0"};
  WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
  std::vector<std::string> events;

 private:
  static std::vector<slipway::kube::ResourceType> all_types() {
    return {types::controller_configs,
            types::machine_configs,
            types::machine_config_pools,
            types::machine_os_configs,
            types::machine_os_builds,
            types::jobs,
            types::config_maps,
            types::nodes,
            types::pods};
  }
  void apply(const DesiredObject& desired) {
    switch (desired.how) {
      case DesiredObject::How::create:
        EXPECT_TRUE(slipway::kube::create(test.context(), kube, desired.type, new_object(desired.object)).ok());
        return;
      case DesiredObject::How::remove:
        return kube.drop(desired.type, space_of(desired), std::string(slipway::kube::name_of(desired.object)));
      default: kube.put(desired.object);
    }
  }
};

TEST(OsBuilds, ABuildGoesFromItsInputsToTheImageOfThePool) {
  Cluster cluster;
  EXPECT_TRUE(cluster.plan().images.contains("worker"));
  PoolImages images = cluster.settle();
  EXPECT_EQ(cluster.phase(), "Prepared");
  EXPECT_EQ(images.at("worker").image, "");
  EXPECT_EQ(images.at("worker").waits_for, "MachineOSBuild " + cluster.build_name() + ", which is Prepared");
  ASSERT_TRUE(cluster.job());
  EXPECT_FALSE(cluster.is_without_cache());
  EXPECT_EQ(integer_of(*cluster.job(), {"spec", "activeDeadlineSeconds"}), 7200);
  EXPECT_EQ(text_of(cluster.builds()[0], {"spec", "renderedImagePushSpec"}), repository + ":" + cluster.build_name());
  cluster.set_job({{"active", 1}});
  images = cluster.settle();
  EXPECT_EQ(cluster.phase(), "Building");
  EXPECT_NE(images.at("worker").waits_for.find("Building"), std::string::npos);
  cluster.succeed();
  images = cluster.settle();
  EXPECT_EQ(cluster.phase(), "Succeeded");
  EXPECT_EQ(images.at("worker").image, repository + "@" + digest_b);
  EXPECT_EQ(images.at("worker").waits_for, "");
  EXPECT_EQ(cluster.objects(), 0u);
  const Json config = *cluster.kube.stored(types::machine_os_configs, "", "worker");
  EXPECT_EQ(text_of(config, {"status", "currentImagePullSpec"}), repository + "@" + digest_b);
  EXPECT_EQ(text_of(config, {"status", "machineOSBuild", "name"}), cluster.build_name());
  const Json build = cluster.builds()[0];
  EXPECT_EQ(text_of(build, {"status", "digestedImagePushSpec"}), repository + "@" + digest_b);
  EXPECT_LT(text_of(build, {"status", "buildStart"}), text_of(build, {"status", "buildEnd"}));
  EXPECT_EQ(cluster.events, (std::vector<std::string>{"BuildPrepared", "BuildBuilding", "BuildSucceeded"}));
  // Nothing is left to do.
  const int writes = cluster.kube.writes();
  (void)cluster.settle();
  EXPECT_EQ(cluster.kube.writes(), writes);
}

TEST(OsBuilds, APodThatDoesNotStartIsExplained) {
  const auto waiting = [](const char* reason, const char* message) {
    const JsonObject state = {{"waiting", JsonObject{{"reason", reason}, {"message", message}}}};
    return JsonObject{{"containerStatuses", JsonArray{JsonObject{{"state", state}}}}};
  };
  const JsonObject unschedulable = {
      {"conditions",
       JsonArray{JsonObject{{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/3 nodes are available"}}}}};
  const struct {
    JsonObject status;
    const char* node;
    const char* why;  // empty: it runs
  } cases[] = {{unschedulable, "", "no machine takes it: 0/3 nodes are available"},
               {waiting("ImagePullBackOff", "mco@sha256:1: not found"), "master-0", "ImagePullBackOff: mco@sha256:1: not found"},
               {waiting("ContainerCreating", ""), "master-0", "the kubelet of master-0 has not started it"},
               {{}, "", "the scheduler has not looked at it"},
               {JsonObject{{"phase", "Running"}}, "master-0", ""}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.why);
    Cluster cluster;
    (void)cluster.settle();
    cluster.set_job({{"active", 1}});
    cluster.kube.put({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata",
                       {{"name", "build-x"},
                        {"namespace", space},
                        {"creationTimestamp", to_rfc3339(cluster.now)},
                        {"labels", {{mc::os_build_label, cluster.build_name()}}}}},
                      {"spec", {{"nodeName", each.node}}},
                      {"status", each.status}});
    (void)cluster.settle();
    EXPECT_EQ(cluster.reason(), "JobRunning");
    const WallTime limit = cluster.now + mc::os_build_limits::start_of_pod;
    const bool runs = std::string_view(each.why).empty();
    EXPECT_EQ(cluster.plan().plan.replan_at, runs ? std::nullopt : std::optional(limit));
    cluster.now = limit;
    const PoolImages images = cluster.settle();
    EXPECT_EQ(cluster.phase(), "Building");
    EXPECT_EQ(cluster.reason(), runs ? "JobRunning" : "PodPending");
    if (runs) continue;
    EXPECT_EQ(cluster.message(), fmt::format("Pod build-x has not started within 2 minutes: {}", each.why));
    EXPECT_NE(images.at("worker").waits_for.find(each.why), std::string::npos) << images.at("worker").waits_for;
  }
}

TEST(OsBuilds, TheJobRunsOnAMasterAndMountsOnlyWhatItNeeds) {
  Cluster cluster;
  (void)cluster.settle();
  const Json job = *cluster.job();
  const Json& pod = *find(job, {"spec", "template", "spec"});
  EXPECT_EQ(integer_of(job, {"spec", "backoffLimit"}), 3);
  EXPECT_EQ(text_of(pod, {"restartPolicy"}), "Never");
  EXPECT_EQ(text_of(pod, {"serviceAccountName"}), "machine-os-builder");
  EXPECT_TRUE(find_string(pod, {"nodeSelector", "node-role.kubernetes.io/master"})) << "a worker may be stolen";
  const Json& container = find_array(pod, {"containers"})[0];
  EXPECT_EQ(text_of(container, {"image"}), "mco@sha256:1");
  const std::vector<std::string> command = texts_of(container, {"command"});
  EXPECT_NE(std::ranges::find(command, "--name=" + cluster.build_name()), command.end());
  EXPECT_NE(std::ranges::find(command, "--push-secret=push"), command.end());
  const std::string text = emit_json(job, JsonStyle::compact);
  EXPECT_NE(text.find(R"({"name":"HTTP_PROXY","value":"http://proxy:3128"})"), std::string::npos);
  EXPECT_NE(text.find(R"({"name":"KUBERNETES_SERVICE_HOST","value":"api-int.demo"})"), std::string::npos);
  EXPECT_EQ(text.find("pull/"), std::string::npos) << "the logins of the kubelet are on the machine";
}

struct JobCase {
  const char* what;
  std::function<void(Cluster&)> happens;
  const char* phase;
  const char* reason;
  const char* message;  // part of it
};

// A build whose Job exists, and what happens then.
TEST(OsBuilds, TheStateOfTheJobIsTheStateOfTheBuild) {
  const auto fail = [](Cluster& c, const char* pod, Code code, const char* why) {
    c.put_result(mc::failure_object(c.build_name(), pod, mc::failure_of(error(code, "{}", why))));
  };
  const std::vector<JobCase> cases = {
      {"no pod yet", [](Cluster&) {}, "Prepared", "JobCreated", "the pod of the build does not exist yet"},
      {"it runs",
       [](Cluster& c) {
         c.set_job({{"active", 1}});
       },
       "Building", "JobRunning", ""},
      {"its machine is lost",
       [](Cluster& c) {
         c.set_job({{"active", 1}});
         (void)c.settle();
         c.set_job({{"active", 0}});
       },
       "Building", "JobRunning", ""},
      {"an attempt failed",
       [&](Cluster& c) {
         fail(c, "pod-1", Code::unavailable, "registry.example.com: no connection");
         c.set_job({{"active", 1}, {"failed", 1}});
       },
       "Building", "JobRunning", "attempt 2 of 4; the last one failed: registry.example.com: no connection"},
      {"all attempts failed",
       [&](Cluster& c) {
         fail(c, "pod-1", Code::unavailable, "registry.example.com: no connection");
         c.set_job(Cluster::ended("Failed", "Job has reached the specified backoff limit"));
       },
       "Failed", "BuildFailed", "backoff limit; the last attempt: registry.example.com: no connection"},
      {"it failed without a word", [](Cluster& c) { c.set_job(Cluster::ended("Failed", "DeadlineExceeded")); }, "Failed",
       "BuildFailed", "DeadlineExceeded"},
      {"an error of the Containerfile",
       [&](Cluster& c) {
         fail(c, "pod-1", Code::invalid, "line 2: RUN dnf install x: exit status 1");
         c.set_job({{"active", 1}, {"failed", 1}});
       },
       "Failed", "BuildFailed", "line 2: RUN dnf install x: exit status 1"},
      {"a result of an attempt before the last one",
       [&](Cluster& c) {
         c.put_result(mc::result_object(c.image(digest_b)));
         c.set_job(Cluster::ended("Failed"));
       },
       "Succeeded", "Built", digest_b.c_str()},
      {"complete, the result is not seen yet", [](Cluster& c) { c.set_job(Cluster::ended("Complete")); }, "Building",
       "ResultPending", ""},
      {"a result without a digest",
       [](Cluster& c) {
         c.put_result(mc::result_object(c.image("latest")));
         c.set_job(Cluster::ended("Complete"));
       },
       "Failed", "ResultInvalid", "@latest"},
      {"the result of another build",
       [](Cluster& c) {
         mc::OsImage other = c.image(digest_b);
         other.build.repository = "registry.example.com/eve/os";
         c.put_result(mc::result_object(other));
         c.set_job(Cluster::ended("Complete"));
       },
       "Failed", "ResultInvalid", "the result is that of build"},
  };
  for (const JobCase& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster;
    (void)cluster.settle();
    each.happens(cluster);
    const PoolImages images = cluster.settle();
    EXPECT_EQ(cluster.phase(), each.phase);
    EXPECT_EQ(cluster.reason(), each.reason);
    EXPECT_NE(cluster.message().find(each.message), std::string::npos) << cluster.message();
    const bool has_failed = cluster.phase() == "Failed";
    EXPECT_EQ(images.at("worker").problem.find(each.message) != std::string::npos && !images.at("worker").problem.empty(),
              has_failed)
        << images.at("worker").problem;
    EXPECT_EQ(images.at("worker").image.empty(), cluster.phase() != "Succeeded");
  }
}

TEST(OsBuilds, AJobThatEndsForGoodIsNotTriedAgain) {
  Cluster cluster;
  (void)cluster.settle();
  cluster.put_result(mc::failure_object(cluster.build_name(), "pod-1", {.message = "line 2: no", .is_final = true}));
  cluster.set_job({{"active", 1}, {"failed", 1}});
  (void)cluster.settle();
  EXPECT_EQ(cluster.phase(), "Failed");
  EXPECT_FALSE(cluster.job());
  cluster.now += std::chrono::hours(24);
  (void)cluster.settle();
  EXPECT_EQ(cluster.phase(), "Failed");
  EXPECT_FALSE(cluster.job());
  // The name of the build does not depend on its logins.
  Json other = *cluster.kube.stored(types::machine_os_configs, "", "worker");
  other.as_object()["spec"].as_object()["renderedImagePushSecret"] = JsonObject{{"name", "other"}};
  cluster.kube.put(std::move(other));
  (void)cluster.settle();
  EXPECT_NE(cluster.phase(), "Failed");
  ASSERT_TRUE(cluster.job());
  EXPECT_NE(emit_json(*cluster.job(), JsonStyle::compact).find("--push-secret=other"), std::string::npos);
}

TEST(OsBuilds, AJobThatWasDeletedIsMadeAgain) {
  const std::vector<std::function<void(Cluster&)>> disturbances = {
      [](Cluster& c) { c.kube.drop(types::jobs, space, mc::job_name(c.build_name())); },
      [](Cluster& c) { c.kube.drop(types::machine_os_builds, "", c.build_name()); },
      [](Cluster& c) {
        c.set_job(Cluster::ended("Complete"));
        c.now = parse_rfc3339("2026-11-21T00:12:00Z").value();
      },
  };
  for (const auto& disturb : disturbances) {
    Cluster cluster;
    (void)cluster.settle();
    cluster.set_job({{"active", 1}});
    (void)cluster.settle();
    const std::string name = cluster.build_name(), uid = text_of(*cluster.job(), {"metadata", "uid"});
    disturb(cluster);
    (void)cluster.settle();
    EXPECT_EQ(cluster.build_name(), name);
    EXPECT_EQ(cluster.phase(), "Prepared");
    ASSERT_TRUE(cluster.job());
    EXPECT_NE(text_of(*cluster.job(), {"metadata", "uid"}), uid);
    cluster.succeed();
    EXPECT_EQ(cluster.settle().at("worker").image, repository + "@" + digest_b);
  }
}

TEST(OsBuilds, AnotherConfigReplacesAnUnfinishedBuild) {
  Cluster cluster;
  (void)cluster.settle();
  const std::string first = cluster.build_name();
  cluster.put_rendered("rendered-worker-2", "two");
  cluster.set_config("rendered-worker-2");
  (void)cluster.settle();
  ASSERT_EQ(cluster.builds().size(), 1u);
  EXPECT_NE(cluster.build_name(), first);
  EXPECT_EQ(cluster.kube.stored_all(types::jobs).size(), 1u);
  EXPECT_TRUE(cluster.job());
}

TEST(OsBuilds, AConfigWithTheSameImageNeedsNoBuild) {
  Cluster cluster;
  (void)cluster.settle();
  cluster.succeed();
  (void)cluster.settle();
  cluster.put_rendered("rendered-worker-2", "one");
  cluster.set_config("rendered-worker-2");
  EXPECT_EQ(cluster.settle().at("worker").image, repository + "@" + digest_b);
  EXPECT_EQ(cluster.builds().size(), 1u);
}

TEST(OsBuilds, ABuildStaysWhileANodeHasItsImage) {
  Cluster cluster;
  (void)cluster.settle();
  cluster.succeed();
  (void)cluster.settle();
  cluster.put_node(repository + "@" + digest_b);
  cluster.put_rendered("rendered-worker-2", "two");
  cluster.set_config("rendered-worker-2");
  (void)cluster.settle();
  EXPECT_EQ(cluster.builds().size(), 2u);
  cluster.kube.drop(types::machine_os_configs, "", "worker");
  EXPECT_TRUE(cluster.settle().empty());
  EXPECT_EQ(cluster.builds().size(), 1u) << "the unfinished build goes with its MachineOSConfig";
  EXPECT_EQ(cluster.phase(), "Succeeded");
  cluster.kube.drop(types::nodes, "", "worker-0");
  (void)cluster.settle();
  EXPECT_EQ(cluster.phase(), "none");
  EXPECT_EQ(cluster.objects(), 0u);
}

struct SeedCase {
  const char* what;
  std::string recorded_name;  // "": that of the build
  bool is_recorded, is_pushed, has_prebuilt, has_image;
  const char* phase;
  const char* reason;
  std::string image;
};

TEST(OsBuilds, AnImageThatExistsNeedsNoJob) {
  const std::string other = repository + "@" + digest_a;
  const std::vector<SeedCase> cases = {
      {"of the bootstrap machine", "", true, true, false, false, "Succeeded", "BootstrapImageSeeded",
       repository + "@" + digest_b},
      {"that is in no registry", "", true, false, false, false, "Prepared", "JobCreated", ""},
      {"of other inputs", "worker-0123", true, true, false, false, "Prepared", "JobCreated", ""},
      {"of the user", "", false, false, true, false, "Succeeded", "PreBuiltImageSeeded", other},
      {"of the user, after another one", "", false, false, true, true, "Prepared", "JobCreated", ""},
  };
  for (const SeedCase& each : cases) {
    SCOPED_TRACE(each.what);
    std::string name;
    mc::OsImage image;
    {
      Cluster first;
      (void)first.settle();
      image = first.image(digest_b);
    }
    Cluster cluster;
    if (!each.recorded_name.empty()) image.build.name = each.recorded_name;
    image.is_pushed = each.is_pushed;
    if (each.is_recorded) {
      cluster.kube.put(config_map({space, std::string(mc::os_images_config_map)},
                                  {{"worker", emit_json(mc::to_json(image), JsonStyle::compact)}, {"master", "{}"}}));
    }
    if (each.has_prebuilt) cluster.put_os_config(repository + ":latest", {{mc::prebuilt_image_annotation, other}});
    if (each.has_image) {
      Json config = *cluster.kube.stored(types::machine_os_configs, "", "worker");
      config.as_object()["status"] = {{"currentImagePullSpec", repository + "@" + digest_b}};
      cluster.kube.put(std::move(config));
    }
    const PoolImages images = cluster.settle();
    EXPECT_EQ(cluster.phase(), each.phase);
    EXPECT_EQ(cluster.reason(), each.reason);
    EXPECT_EQ(images.at("worker").image, each.image);
    EXPECT_EQ(cluster.job().has_value(), each.image.empty());
    const bool differs = std::ranges::find(cluster.events, "ImageOfBootstrapDiffers") != cluster.events.end();
    EXPECT_EQ(differs, !each.recorded_name.empty());
  }
}

TEST(OsBuilds, TheAnnotationRebuildBuildsAgain) {
  for (const bool has_record : {false, true}) {
    Cluster cluster;
    (void)cluster.settle();
    if (has_record) {
      const std::string record = emit_json(mc::to_json(cluster.image(digest_b)), JsonStyle::compact);
      cluster.kube.put(
          config_map({space, std::string(mc::os_images_config_map)}, {{"worker", record}, {"master", "another record"}}));
    } else {
      cluster.succeed();
    }
    (void)cluster.settle();
    ASSERT_EQ(cluster.phase(), "Succeeded");
    cluster.put_os_config(repository + ":latest", {{mc::rebuild_annotation, ""}});
    const PoolImages images = cluster.settle();
    EXPECT_EQ(images.at("worker").image, "");
    EXPECT_EQ(cluster.phase(), "Prepared");
    ASSERT_TRUE(cluster.job());
    EXPECT_TRUE(cluster.is_without_cache());
    const Json config = *cluster.kube.stored(types::machine_os_configs, "", "worker");
    EXPECT_FALSE(find(config, {"metadata", "annotations", mc::rebuild_annotation}));
    if (has_record) {
      const Json records = *cluster.kube.stored(types::config_maps, space, std::string(mc::os_images_config_map));
      EXPECT_EQ(find_object(records, {"data"}), (JsonObject{{"master", "another record"}}));
    }
    cluster.succeed(digest_a);
    EXPECT_EQ(cluster.settle().at("worker").image, repository + "@" + digest_a);
    // Another build may use what this one leaves.
    cluster.put_rendered("rendered-worker-2", "two");
    cluster.set_config("rendered-worker-2");
    (void)cluster.settle();
    const std::vector<Json> jobs = cluster.kube.stored_all(types::jobs);
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_EQ(emit_json(jobs[0], JsonStyle::compact).find("--no-cache"), std::string::npos);
  }
}

struct WaitCase {
  const char* what;
  std::function<void(Cluster&)> happens;
  const char* waits_for;
  const char* problem;
};

TEST(OsBuilds, WhatIsMissingIsReportedAndNothingIsBuilt) {
  const std::vector<WaitCase> cases = {
      {"the bootstrap", [](Cluster& c) { c.kube.drop(types::config_maps, "kube-system", "bootstrap"); },
       "the end of the bootstrap", ""},
      {"no rendered config", [](Cluster& c) { c.set_config("rendered-worker-9"); }, "a rendered config of the pool", ""},
      {"another version", [](Cluster& c) { c.put_controller("0.2.0"); }, "a ControllerConfig of version 0.1.0", ""},
      {"no pool", [](Cluster& c) { c.kube.drop(types::machine_config_pools, "", "worker"); }, "",
       "MachineConfigPool worker does not exist"},
      {"a wrong push spec", [](Cluster& c) { c.put_os_config("localhost/os"); }, "", "renderedImagePushSpec"},
  };
  for (const WaitCase& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster;
    each.happens(cluster);
    const PoolImages images = cluster.settle();
    EXPECT_EQ(cluster.phase(), "none");
    EXPECT_EQ(images.at("worker").image, "");
    EXPECT_EQ(images.at("worker").waits_for, each.waits_for);
    EXPECT_NE(images.at("worker").problem.find(each.problem), std::string::npos) << images.at("worker").problem;
    EXPECT_EQ(images.at("worker").problem.empty(), std::string_view(each.problem).empty()) << images.at("worker").problem;
  }
}

// A change that cannot be built must not take the image from nodes that have it.
TEST(OsBuilds, BuildsStayWhileTheNextOneIsUnknown) {
  Cluster cluster;
  (void)cluster.settle();
  cluster.succeed();
  (void)cluster.settle();
  cluster.put_os_config("localhost/os");
  (void)cluster.settle();
  EXPECT_EQ(cluster.phase(), "Succeeded");
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
