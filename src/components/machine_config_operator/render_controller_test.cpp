#include "components/machine_config_operator/render_controller.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "components/machine_config_operator/controller.h"
#include "components/machine_config_operator/inputs.h"
#include "components/render/manifest.h"
#include "ignition/data_url.h"
#include "kube/conditions.h"
#include "machineconfig/labels.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::machine_config_operator {
namespace {

namespace types = kube::types;

constexpr WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
constexpr std::string_view pull_secret = R"({"auths":{"r.example.com":{"auth":"eA=="}}})";

machineconfig::ControllerConfig sample() {
  return {.version = "0.1.0",
          .platform = "none",
          .cluster_dns_ip = "172.30.0.10",
          .kubelet_client_ca = "first",
          .images = {{"machineConfigOperator", "mco@sha256:1"}, {"infraImageKey", "pod@sha256:2"}},
          .os_image = "os@sha256:3",
          .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo:6443"}}}}};
}

Json user_config(std::string_view name, std::string_view role, std::string_view config) {
  const Result<Json> parsed = parse_json(config, "config");
  EXPECT_TRUE(parsed.ok());
  return {{"apiVersion", machineconfig::api_version},
          {"kind", "MachineConfig"},
          {"metadata", {{"name", name}, {"labels", {{machineconfig::role_label, role}}}}},
          {"spec", {{"config", parsed.value()}}}};
}

constexpr std::string_view motd =
    R"({"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,mine"}}]}})";
constexpr std::string_view folder = R"({"ignition":{"version":"3.1.0"},"storage":{"directories":[{"path":"/etc/mine"}]}})";
constexpr std::string_view no_config = R"({"ignition":{"version":"9.9.0"}})";

struct Cluster {
  Cluster() {
    put(machineconfig::to_json(sample()));
    put(built_in_pool("master"));
    put(built_in_pool("worker"));
    put({{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata", {{"name", "pull-secret"}, {"namespace", "openshift-config"}}},
         {"data", {{".dockerconfigjson", base64_encode(pull_secret)}}}});
  }

  void put(Json object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
    view.put(std::move(object));
  }

  RenderPlan plan() { return controller.plan(view.snapshot(), now); }

  // Executes plans until a plan changes nothing. returns: the last plan
  RenderPlan settle() {
    for (int round = 0; round < 10; ++round) {
      RenderPlan made = plan();
      int open = 0;
      for (const DesiredObject& desired : made.plan.desired_objects) {
        if (is_fulfilled(desired, view.snapshot())) continue;
        ++open;
        fulfil(desired);
      }
      if (open == 0 && !made.plan.replan_at) return made;
      if (open == 0) now = *made.plan.replan_at;
    }
    ADD_FAILURE() << "the plans never settle";
    return {};
  }

  void fulfil(const DesiredObject& desired) {
    const std::string name(kube::name_of(desired.object));
    if (desired.how == DesiredObject::How::remove) return view.remove(desired.type, "", name);
    const Snapshot seen = view.snapshot();
    const Json* before = seen.find(desired.type, "", name);
    Json object = before && desired.how != DesiredObject::How::status ? *before : desired.object;
    if (before && desired.how != DesiredObject::How::status) {
      for (const auto& [key, value] : find_object(desired.object, {"spec"})) object.as_object()["spec"].as_object()[key] = value;
    }
    put(std::move(object));
  }

  std::string target(std::string_view pool) const {
    const Snapshot seen = view.snapshot();
    return std::string(
        find_string(*seen.find(types::machine_config_pools, "", pool), {"spec", "configuration", "name"}).value_or(""));
  }

  // Sets the pool's status as if all its machines had their config.
  void reach(std::string_view name) {
    Json pool = *view.snapshot().find(types::machine_config_pools, "", name);
    pool.as_object()["status"] = JsonObject{{"configuration", pool.at("spec").at("configuration")}};
    put(std::move(pool));
  }

  bool has(std::string_view config) const { return view.snapshot().find(types::machine_configs, "", config) != nullptr; }

  View view;
  RenderController controller{"0.1.0"};
  WallTime now = start;
  int version = 0;
};

// The name of the config that the bootstrap machine renders from the same objects.
std::string bootstrap_name(const Cluster& cluster, std::string_view pool) {
  std::vector<YamlDocument> documents;
  const Snapshot seen = cluster.view.snapshot();
  for (const kube::ResourceType& type : {types::controller_configs, types::machine_configs, types::machine_config_pools,
                                         types::kubelet_configs, types::runtime_configs}) {
    for (const Json* object : seen.list(type)) {
      if (find(*object, {"metadata", "annotations", machineconfig::generated_by})) continue;
      documents.push_back(parse_yaml(emit_yaml(*object), "manifest.yaml").value());
    }
  }
  const Json secret = {{"data", {{".dockerconfigjson", base64_encode(pull_secret)}}}};
  const Result<RenderedFiles> files = render_machine_config_pools(documents, secret, "0.1.0");
  EXPECT_TRUE(files.ok()) << files.error().message();
  for (const RenderedFile& file : files.value()) {
    const std::string prefix = fmt::format("machine-configs/rendered-{}-", pool);
    if (!file.path.starts_with(prefix)) continue;
    const std::size_t begin = file.path.find('/') + 1;
    return file.path.substr(begin, file.path.size() - begin - std::string_view(".yaml").size());
  }
  return "";
}

TEST(RenderController, GivesTheSameNamesAsTheBootstrapMachine) {
  Cluster cluster;
  cluster.put(user_config("99-motd", "worker", motd));
  cluster.settle();
  for (const char* role : {"master", "worker"}) {
    EXPECT_EQ(cluster.target(role), bootstrap_name(cluster, role));
    EXPECT_TRUE(cluster.has(cluster.target(role)));
  }
  for (const char* name : {"00-master", "01-master-kubelet", "01-worker-container-runtime"})
    EXPECT_TRUE(cluster.has(name)) << name;
}

TEST(RenderController, WhatDiffersBetweenBootstrapAndClusterChangesNoName) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("master");
  machineconfig::ControllerConfig later = sample();
  later.kubelet_client_ca = "second";
  later.root_ca = "other";
  later.release_image = "release@sha256:9";
  later.infrastructure.as_object()["metadata"] = JsonObject{{"uid", "x"}};
  cluster.put(machineconfig::to_json(later));
  cluster.settle();
  EXPECT_EQ(cluster.target("master"), before);
}

TEST(RenderController, TheConfigExistsBeforeItsPoolNamesIt) {
  Cluster cluster;
  const RenderPlan first = cluster.plan();
  for (const DesiredObject& desired : first.plan.desired_objects) EXPECT_NE(desired.type, types::machine_config_pools);
  cluster.settle();
  // A config that a user deleted is created again.
  const std::string name = cluster.target("worker");
  cluster.view.remove(types::machine_configs, "", name);
  cluster.settle();
  EXPECT_TRUE(cluster.has(name));
}

TEST(RenderController, RenderedConfigsBelongToTheirPool) {
  Cluster cluster;
  Json pool = built_in_pool("worker");
  pool.as_object()["metadata"].as_object()["uid"] = "pool-uid";
  cluster.put(pool);
  cluster.settle();
  const Snapshot seen = cluster.view.snapshot();
  const Json* config = seen.find(types::machine_configs, "", cluster.target("worker"));
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(find_string(find_array(*config, {"metadata", "ownerReferences"}).at(0), {"uid"}), "pool-uid");
  EXPECT_EQ(find_string(*config, {"metadata", "labels", machineconfig::role_label}), std::nullopt) << "no pool selects it";
  const Json* live = seen.find(types::machine_config_pools, "", "worker");
  EXPECT_EQ(find_array(*live, {"spec", "configuration", "source"}).size(), 3u);
}

TEST(RenderController, ChangesThatAreAppliedTogetherAreOneChange) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker");
  cluster.put(user_config("99-a", "worker", motd));
  const RenderPlan first = cluster.plan();
  EXPECT_TRUE(first.pools.at("worker").is_settling);
  EXPECT_FALSE(first.pools.at("master").is_settling);
  ASSERT_TRUE(first.plan.replan_at);
  EXPECT_EQ(*first.plan.replan_at, cluster.now + render_settle);
  cluster.now += Milliseconds(1'500);
  EXPECT_EQ(*cluster.plan().plan.replan_at, start + render_settle) << "nothing changed";
  cluster.put(user_config("99-b", "worker", motd));
  EXPECT_EQ(*cluster.plan().plan.replan_at, cluster.now + render_settle);
  EXPECT_EQ(cluster.target("worker"), before);
  cluster.settle();
  EXPECT_NE(cluster.target("worker"), before);
  // And back.
  cluster.view.remove(types::machine_configs, "", "99-a");
  cluster.view.remove(types::machine_configs, "", "99-b");
  cluster.settle();
  EXPECT_EQ(cluster.target("worker"), before);
}

TEST(RenderController, HeartbeatsOfNodesRenderNothing) {
  Cluster cluster;
  cluster.settle();
  // Rendering would refuse the user's config now, but without a change nothing is rendered.
  const std::string before = cluster.target("worker");
  cluster.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "worker-0"}}}});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) cluster.plan();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(cluster.target("worker"), before);
}

TEST(RenderController, AnInvalidConfigStopsThePoolsOfItsRole) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker");
  cluster.put(user_config("99-broken", "worker", no_config));
  const RenderPlan refused = cluster.settle();
  EXPECT_NE(refused.pools.at("worker").problem.find("MachineConfig 99-broken"), std::string::npos)
      << refused.pools.at("worker").problem;
  EXPECT_EQ(refused.pools.at("master").problem, "");
  EXPECT_EQ(cluster.target("worker"), before);
  cluster.view.remove(types::machine_configs, "", "99-broken");
  EXPECT_EQ(cluster.settle().pools.at("worker").problem, "");
}

TEST(RenderController, NamesTheConfigThatOnlyNewMachinesCanApply) {
  Cluster cluster;
  cluster.put(user_config("50-motd", "worker", motd));
  cluster.settle();
  for (const char* role : {"master", "worker"}) cluster.reach(role);
  const std::string before = cluster.target("worker");
  cluster.put(user_config("99-folder", "worker", folder));
  const RenderPlan refused = cluster.settle();
  const std::string& problem = refused.pools.at("worker").problem;
  EXPECT_TRUE(problem.starts_with("MachineConfig 99-folder: ")) << problem;
  EXPECT_EQ(cluster.target("worker"), before);
  cluster.view.remove(types::machine_configs, "", "99-folder");
  EXPECT_EQ(cluster.settle().pools.at("worker").problem, "");
  EXPECT_EQ(cluster.target("worker"), before);
}

TEST(RenderController, AUsersObjectReplacesTheGeneratedOne) {
  Cluster cluster;
  cluster.put(user_config("00-worker", "worker", motd));
  cluster.settle();
  const Snapshot seen = cluster.view.snapshot();
  EXPECT_EQ(find(*seen.find(types::machine_configs, "", "00-worker"), {"metadata", "annotations"}), nullptr);
  EXPECT_EQ(cluster.target("worker"), bootstrap_name(cluster, "worker"));
}

TEST(RenderController, MirrorsComeAndGo) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker");
  const JsonArray entries = {JsonObject{{"source", "r.example.com"}, {"mirrors", JsonArray{"m:5000"}}}};
  cluster.put({{"apiVersion", "config.openshift.io/v1"},
               {"kind", "ImageDigestMirrorSet"},
               {"metadata", {{"name", "m"}}},
               {"spec", {{"imageDigestMirrors", entries}}}});
  cluster.settle();
  EXPECT_TRUE(cluster.has("99-worker-generated-registries"));
  EXPECT_NE(cluster.target("worker"), before);
  cluster.view.remove({"config.openshift.io", "v1", "imagedigestmirrorsets", "ImageDigestMirrorSet", false}, "", "m");
  cluster.settle();
  EXPECT_FALSE(cluster.has("99-worker-generated-registries"));
  EXPECT_EQ(cluster.target("worker"), before);
}

Json kubelet_config(std::string_view name, std::string_view pool, JsonObject fields, JsonObject more = {}) {
  more["machineConfigPoolSelector"] =
      JsonObject{{"matchLabels", {{fmt::format("pools.operator.machineconfiguration.openshift.io/{}", pool), ""}}}};
  more["kubeletConfig"] = std::move(fields);
  return {{"apiVersion", machineconfig::api_version},
          {"kind", "KubeletConfig"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(more)}};
}

Json runtime_config(std::string_view name, std::string_view pool, JsonObject fields) {
  Json object = kubelet_config(name, pool, {}, {{"containerRuntimeConfig", std::move(fields)}});
  object.as_object()["kind"] = "ContainerRuntimeConfig";
  object.at("spec").as_object().erase("kubeletConfig");
  return object;
}

// The files of a generated MachineConfig, by path.
std::map<std::string, std::string> files_of(const Cluster& cluster, std::string_view name) {
  const Snapshot seen = cluster.view.snapshot();
  std::map<std::string, std::string> files;
  const Json* object = seen.find(types::machine_configs, "", name);
  if (!object) return files;
  const auto config = machineconfig::parse_machine_config(*object, "generated");
  EXPECT_TRUE(config.ok()) << config.error().message();
  for (const ignition::File& file : config->config.storage.files)
    files.emplace(file.path, ignition::decode_data_url(*file.contents.source).value());
  return files;
}

constexpr const char* kubelet_file = "/etc/kubernetes/kubelet.conf";
constexpr const char* runtime_drop_in = "/etc/openshift/kubelet.conf.d/20-container-runtime-config.conf";

TEST(RenderController, KubeletConfigsAreMergedIntoTheTemplate) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker"), master = cluster.target("master");
  cluster.put(kubelet_config("b", "worker", {{"maxPods", 50}, {"authentication", {{"webhook", {{"cacheTTL", "1m"}}}}}}));
  cluster.settle();
  EXPECT_EQ(cluster.target("worker"), bootstrap_name(cluster, "worker"));
  cluster.put(kubelet_config("a", "worker", {{"maxPods", 40}, {"podPidsLimit", 10}}));
  cluster.put(kubelet_config("c", "nobody", {{"maxPods", 30}}));
  cluster.settle();
  EXPECT_NE(cluster.target("worker"), before);
  EXPECT_EQ(cluster.target("master"), master);
  const auto files = files_of(cluster, "99-worker-generated-kubelet");
  ASSERT_EQ(files.size(), 1u);
  const Json conf = parse_yaml(files.at(kubelet_file), "kubelet.conf")->value;
  EXPECT_EQ(conf.at("maxPods"), Json(50)) << "the last one by name";
  EXPECT_EQ(conf.at("podPidsLimit"), Json(10));
  EXPECT_EQ(find_string(conf, {"authentication", "webhook", "cacheTTL"}), "1m");
  EXPECT_EQ(find_string(conf, {"authentication", "x509", "clientCAFile"}), "/etc/kubernetes/kubelet-ca.crt");
}

TEST(RenderController, OfSizesThatExcludeEachOtherTheLastOneCounts) {
  struct Case {
    Json first, second;
    std::string sizing, reserved;
  };
  const Json by_size = kubelet_config("?", "worker", {}, {{"autoSizingReserved", true}});
  const Json by_hand = kubelet_config("?", "worker", {{"systemReserved", {{"cpu", "1"}}}});
  const Json off = kubelet_config("?", "worker", {}, {{"autoSizingReserved", false}});
  const Case cases[] = {{by_size, by_hand, "", R"({"cpu":"1"})"},
                        {by_hand, by_size, "NODE_SIZING_ENABLED=true\n", "null"},
                        {by_size, off, "NODE_SIZING_ENABLED=false\n", "null"}};
  for (const Case& c : cases) {
    Cluster cluster;
    int number = 0;
    for (Json object : {c.first, c.second}) {
      object.at("metadata").as_object()["name"] = std::to_string(++number);
      cluster.put(std::move(object));
    }
    cluster.settle();
    auto files = files_of(cluster, "99-worker-generated-kubelet");
    EXPECT_EQ(files["/etc/node-sizing-enabled.env"], c.sizing);
    const Json conf = parse_yaml(files[kubelet_file], "kubelet.conf")->value;
    const Json* reserved = find(conf, {"systemReserved"});
    EXPECT_EQ(emit_json(reserved ? *reserved : Json(), JsonStyle::compact), c.reserved);
  }
}

TEST(RenderController, ContainerRuntimeConfigsBecomeDropIns) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker"), master = cluster.target("master");
  cluster.put(runtime_config("a", "worker", {{"pidsLimit", 1000}, {"logSizeMax", "10Mi"}, {"logLevel", "debug"}}));
  cluster.settle();
  EXPECT_EQ(cluster.target("worker"), bootstrap_name(cluster, "worker"));
  EXPECT_NE(cluster.target("worker"), before);
  EXPECT_EQ(cluster.target("master"), master);
  auto files = files_of(cluster, "99-worker-generated-containerruntime");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_NE(files["/etc/containerd/conf.d/20-container-runtime-config.toml"].find("[debug]\n  level = \"debug\""),
            std::string::npos);
  EXPECT_EQ(
      files[runtime_drop_in],
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncontainerLogMaxSize: \"10485760\"\npodPidsLimit: "
      "1000\n");
  cluster.put(runtime_config("b", "worker", {{"pidsLimit", 500}, {"defaultRuntime", "crun"}}));
  cluster.settle();
  EXPECT_NE(files_of(cluster, "99-worker-generated-containerruntime")[runtime_drop_in].find("podPidsLimit: 500"),
            std::string::npos);
  for (const char* name : {"a", "b"}) cluster.view.remove(types::runtime_configs, "", name);
  cluster.settle();
  EXPECT_FALSE(cluster.has("99-worker-generated-containerruntime"));
  EXPECT_EQ(cluster.target("worker"), before);
}

TEST(RenderController, OfTwoLimitsTheLowerOneCounts) {
  struct Case {
    JsonObject kubelet;
    std::string_view expected;
  };
  const Case cases[] = {{{{"podPidsLimit", 100}, {"containerLogMaxSize", "1Ki"}}, "\"1024\"\npodPidsLimit: 100\n"},
                        {{{"podPidsLimit", 5000}, {"containerLogMaxSize", "1Gi"}}, "\"8192\"\npodPidsLimit: 1000\n"},
                        {{{"podPidsLimit", -1}, {"containerLogMaxSize", "-1"}}, "\"8192\"\npodPidsLimit: 1000\n"}};
  for (const Case& c : cases) {
    Cluster cluster;
    cluster.put(runtime_config("a", "worker", {{"pidsLimit", 1000}, {"logSizeMax", 8192}}));
    cluster.put(kubelet_config("a", "worker", c.kubelet));
    cluster.settle();
    const std::string text = files_of(cluster, "99-worker-generated-containerruntime")[runtime_drop_in];
    EXPECT_TRUE(text.ends_with(c.expected)) << text;
  }
}

TEST(RenderController, ReportsSettingsWithoutEffect) {
  Cluster cluster;
  cluster.settle();
  const std::string before = cluster.target("worker");
  cluster.put(kubelet_config("dns", "worker", {{"clusterDNS", JsonArray{"1.1.1.1"}}}));
  cluster.put(kubelet_config("sizing", "worker", {{"systemReserved", {{"cpu", "1"}}}}, {{"autoSizingReserved", true}}));
  cluster.put(kubelet_config("other", "gpu", {{"maxPods", 5}}));
  cluster.put(runtime_config("size", "worker", {{"overlaySize", "8Gi"}, {"pidsLimit", 3}}));
  Json everywhere = kubelet_config("everywhere", "worker", {});
  everywhere.at("spec").as_object()["machineConfigPoolSelector"] = JsonObject();
  cluster.put(everywhere);
  std::map<std::string, std::string> status_of;
  for (const DesiredObject& desired : cluster.plan().plan.desired_objects) {
    if (desired.type != types::kubelet_configs && desired.type != types::runtime_configs) continue;
    EXPECT_EQ(kube::condition_status(desired.object, "Accepted"), "False");
    status_of[std::string(kube::name_of(desired.object))] =
        fmt::format("{}: {}", kube::condition_text(desired.object, "Accepted", "reason"),
                    kube::condition_text(desired.object, "Accepted", "message"));
  }
  EXPECT_EQ(status_of["dns"],
            "Refused: spec.kubeletConfig.clusterDNS: cannot be changed: it is the address of the cluster's DNS service (remove "
            "the field)");
  EXPECT_EQ(status_of["sizing"],
            "Refused: spec.autoSizingReserved: cannot be used with spec.kubeletConfig.systemReserved (remove one of them)");
  EXPECT_EQ(status_of["size"],
            "Refused: spec.containerRuntimeConfig.overlaySize: is not supported: containerd cannot limit the size of a "
            "container's file "
            "system (set limits of ephemeral-storage in pods, or in a LimitRange for a namespace); "
            "spec.containerRuntimeConfig.pidsLimit: "
            "must be a number of at least 20 (to remove the limit, set podPidsLimit to -1 in a KubeletConfig)");
  const std::string no_pool = "NoPool: spec.machineConfigPoolSelector: selects no pool (use labels of MachineConfigPools)";
  EXPECT_EQ(status_of["other"], no_pool);
  EXPECT_EQ(status_of["everywhere"], no_pool);
  EXPECT_FALSE(cluster.has("99-worker-generated-kubelet"));
  EXPECT_EQ(cluster.target("worker"), before);
}

TEST(RenderController, AcceptsWhatItHasSeen) {
  Cluster cluster;
  Json object = kubelet_config("a", "worker", {{"maxPods", 5}});
  object.at("metadata").as_object()["generation"] = 3;
  cluster.put(object);
  cluster.settle();
  const Snapshot seen = cluster.view.snapshot();
  const Json* after = seen.find(types::kubelet_configs, "", "a");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(kube::condition_status(*after, "Accepted"), "True");
  EXPECT_EQ(after->at("status").at("observedGeneration"), Json(3));
}

TEST(RenderController, ReportsWhatIsMissing) {
  {
    Cluster cluster;
    cluster.view.remove(types::controller_configs, "", "machine-config-controller");
    EXPECT_EQ(cluster.plan().pools.at("master").problem, "ControllerConfig does not exist yet");
  }
  {
    Cluster cluster;
    machineconfig::ControllerConfig other = sample();
    other.version = "0.2.0";
    cluster.put(machineconfig::to_json(other));
    const RenderPlan plan = cluster.plan();
    EXPECT_EQ(plan.pools.at("master").problem, "the ControllerConfig has version 0.2.0, but this program has 0.1.0");
    EXPECT_TRUE(plan.plan.desired_objects.empty());
  }
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
