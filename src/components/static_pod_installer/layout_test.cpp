#include "components/static_pod_installer/layout.h"

#include "components/render/manifest.h"

#include <gtest/gtest.h>

namespace slipway::components::static_pod_installer {
namespace {

using Names = std::vector<std::string>;

const Operand& etcd() { return operands().front(); }

const Part pod_part{Part::Kind::config_map, "etcd-pod"};
const Part bundle_part{Part::Kind::config_map, "etcd-all-bundles"};
const Part leaf_part{Part::Kind::secret, "etcd-all-certs"};
const Part extra_part{Part::Kind::config_map, "extra-bundle", true};

NodeStatus master(std::string name, int current, int target) {
  return {.node = std::move(name), .current = current, .target = target};
}

// A view of openshift-etcd with complete revisions 1 and 2.
class World {
 public:
  World() {
    for (int number : {1, 2}) {
      put(revision_object(etcd(), {number, "first", {pod_part, bundle_part}, {leaf_part, extra_part}}));
      put(config_map({"openshift-etcd", fmt::format("etcd-pod-{}", number)}, {{"pod.yaml", "kind: Pod\n"}}));
      put(config_map({"openshift-etcd", fmt::format("etcd-all-bundles-{}", number)}, {{"ca.crt", "CA"}}));
    }
    put(secret({"openshift-etcd", "etcd-all-certs"}, "Opaque", {{"tls.crt", "CRT"}}));
  }

  void put(Json object) { view_.put(std::move(object)); }
  void drop(const kube::ResourceType& type, const std::string& name) { view_.remove(type, "openshift-etcd", name); }
  void put_nodes(const std::vector<NodeStatus>& nodes, int latest = 0) {
    put(with_node_statuses({{"apiVersion", "operator.openshift.io/v1"},
                            {"kind", "Etcd"},
                            {"metadata", {{"name", "cluster"}}},
                            {"status", {{"latestAvailableRevision", latest}}}},
                           nodes));
  }
  Layout layout() const { return plan_layout(etcd(), view_.snapshot(), "master-0"); }

 private:
  View view_;
};

Names paths(const std::vector<ObjectFolder>& folders) {
  Names result;
  for (const ObjectFolder& folder : folders) result.push_back(folder.path);
  return result;
}

TEST(Operands, AreTheFourOfTheControlPlane) {
  Names said;
  for (const Operand& operand : operands()) {
    said.push_back(fmt::format("{} {} {} {}", operand.pod_config(), operand.space, operand.settings.plural, operand.pod));
  }
  EXPECT_EQ(said, (Names{"etcd-pod openshift-etcd etcds etcd",
                         "kube-apiserver-pod openshift-kube-apiserver kubeapiservers kube-apiserver",
                         "kube-controller-manager-pod openshift-kube-controller-manager kubecontrollermanagers "
                         "kube-controller-manager",
                         "kube-scheduler-pod openshift-kube-scheduler kubeschedulers openshift-kube-scheduler"}));
}

TEST(PlanLayout, TakesTheRevisionOfItsOwnNode) {
  World world;
  EXPECT_EQ(world.layout().revision, 0) << "no settings yet";
  world.put_nodes({});
  EXPECT_EQ(world.layout().revision, 0) << "no revision yet";
  world.put_nodes({}, 1);
  EXPECT_EQ(world.layout().revision, 1) << "the first goes to all";
  world.put_nodes({master("master-1", 1, 2), master("master-0", 1, 0)}, 2);
  EXPECT_EQ(world.layout().revision, 1) << "it is not its turn";
  world.put_nodes({master("master-0", 1, 2)}, 2);
  EXPECT_EQ(world.layout().revision, 2);
  world.put_nodes({master("master-0", 2, 1)}, 2);
  EXPECT_EQ(world.layout().revision, 1) << "back again";
}

TEST(PlanLayout, ListsEverything) {
  World world;
  world.put_nodes({master("master-0", 1, 2)});
  const Layout layout = world.layout();
  const std::string top = "/etc/kubernetes/static-pod-resources/";
  EXPECT_EQ(paths(layout.certificates), Names{top + "etcd-certs/secrets/etcd-all-certs"});
  EXPECT_EQ(layout.removed, Names{top + "etcd-certs/configmaps/extra-bundle"});
  EXPECT_EQ(paths(layout.parts), (Names{top + "etcd-pod-2/configmaps/etcd-pod", top + "etcd-pod-2/configmaps/etcd-all-bundles"}));
  ASSERT_TRUE(layout.pod);
  EXPECT_EQ(find_string(*layout.pod, {"metadata", "name"}), "etcd-pod-2");
  EXPECT_EQ(layout.missing, Names{});
  EXPECT_EQ(layout.kept, (std::vector<int>{1, 2}));
}

TEST(PlanLayout, NamesWhatIsMissing) {
  struct Case {
    const kube::ResourceType& type;
    std::string name;
    Names missing;
    std::size_t certificates;
  };
  const Case cases[] = {
      {kube::types::config_maps, "etcd-all-bundles-2", {"ConfigMap openshift-etcd/etcd-all-bundles-2"}, 1},
      {kube::types::config_maps, "etcd-pod-2", {"ConfigMap openshift-etcd/etcd-pod-2"}, 1},
      {kube::types::secrets, "etcd-all-certs", {"Secret openshift-etcd/etcd-all-certs"}, 0},
      // The certificates of the running revision are still written.
      {kube::types::config_maps, "revision-status-2", {"ConfigMap openshift-etcd/revision-status-2"}, 1},
      {kube::types::config_maps, "extra-bundle", {}, 1},
      {kube::types::config_maps, "etcd-pod-1", {}, 1},
  };
  for (const Case& c : cases) {
    World world;
    world.put_nodes({master("master-0", 1, 2)});
    world.drop(c.type, c.name);
    EXPECT_EQ(world.layout().missing, c.missing) << c.name;
    EXPECT_EQ(world.layout().certificates.size(), c.certificates) << c.name;
  }
}

TEST(PlanLayout, WaitsForAMarkerThatCanBeRead) {
  World world;
  world.put_nodes({master("master-0", 0, 2)});
  world.put(config_map({"openshift-etcd", "revision-status-2"}, {{"revision", "two"}}));
  ASSERT_EQ(world.layout().missing.size(), 1u);
  EXPECT_NE(world.layout().missing[0].find("revision-status-2"), std::string::npos) << world.layout().missing[0];
}

TEST(PlanLayout, KeepsWhatRunsThoughItsMarkerIsGone) {
  World world;
  world.put_nodes({master("master-0", 1, 2)});
  world.drop(kube::types::config_maps, "revision-status-1");
  EXPECT_EQ(world.layout().kept, (std::vector<int>{1, 2}));
  world.put_nodes({master("master-0", 2, 0)});
  EXPECT_EQ(world.layout().kept, (std::vector<int>{2}));
}

TEST(Layout, IsTheSameUntilOneOfItsObjectsChanges) {
  World world;
  world.put_nodes({master("master-0", 1, 2)});
  const Layout before = world.layout();
  world.put(config_map({"openshift-etcd", "other"}, {{"a", "b"}}));
  EXPECT_TRUE(world.layout().is_same(before));
  world.put_nodes({master("master-0", 2, 0)});
  EXPECT_TRUE(world.layout().is_same(before)) << "where the revision comes from does not matter";
  world.put(secret({"openshift-etcd", "etcd-all-certs"}, "Opaque", {{"tls.crt", "NEW"}}));
  EXPECT_FALSE(world.layout().is_same(before));
  EXPECT_EQ(files_of(before.certificates[0]).value()[0].content, "CRT") << "a layout keeps its objects";
}

TEST(FilesOf, AreClosedToOthersButForScripts) {
  const Json map = {
      {"kind", "ConfigMap"}, {"data", {{"run.sh", "echo"}, {"config.yaml", "a: b"}}}, {"binaryData", {{"blob", "AAE="}}}};
  const Json key = {{"kind", "Secret"}, {"data", {{"tls.key", "S0VZ"}, {"tls.crt", "Q1JU"}, {"hook.sh", "aGk="}}}};
  const auto said = [](const ObjectFolder& folder) {
    Names result;
    const std::vector<File> files = files_of(folder).value();
    for (const File& file : files) result.push_back(fmt::format("{} {:o} {}", file.name, file.mode, file.content));
    return result;
  };
  const ObjectFolder map_folder{"/m", Part::Kind::config_map, &map}, key_folder{"/k", Part::Kind::secret, &key};
  EXPECT_EQ(said(map_folder), (Names{{"blob 600 \0\1", 11}, "config.yaml 600 a: b", "run.sh 755 echo"}));
  EXPECT_EQ(said(key_folder), (Names{"hook.sh 600 hi", "tls.crt 600 CRT", "tls.key 600 KEY"}));
  EXPECT_EQ(mode_of(map_folder), 0755u);
  EXPECT_EQ(mode_of(key_folder), 0700u);
}

TEST(FilesOf, RefusesWhatIsNoBase64WithoutSayingIt) {
  const Json key = {
      {"kind", "Secret"}, {"metadata", {{"namespace", "openshift-etcd"}, {"name", "leaf"}}}, {"data", {{"tls.key", "hidden?"}}}};
  const auto files = files_of({"/k", Part::Kind::secret, &key});
  ASSERT_FALSE(files.ok());
  EXPECT_TRUE(files.error().message().starts_with("key tls.key of Secret openshift-etcd/leaf: ")) << files.error().message();
  EXPECT_EQ(files.error().message().find("hidden"), std::string::npos) << files.error().message();
}

TEST(PodText, KnowsItsNodeAndRevision) {
  struct Case {
    std::string text, node, want;
  };
  const Case cases[] = {
      {"label: REVISION REVISION", "m", "label: 12 12"},
      {"path: etcd-pod-REVISION/x", "m", "path: etcd-pod-12/x"},
      {"serving-NODE_NAME.crt", "master-0.example.com", "serving-master-0.example.com.crt"},
      {"${NODE_NODE_ENVVAR_NAME_IP}", "master-0.example.com", "${NODE_master_0_example_com_IP}"},
      {"nothing", "m", "nothing"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(pod_text(config_map({"s", "n"}, {{"pod.yaml", c.text}}), 12, c.node).value(), c.want);
  }
  EXPECT_EQ(pod_text(config_map({"s", "n"}, {{"pod", "x"}}), 1, "m").error().message(), "ConfigMap s/n: no pod.yaml found");
}

TEST(Outdated, TouchesNothingButOldRevisionsOfItsOperand) {
  const Names names = {".etcd-pod-3.new", "etcd-certs", "etcd-pod-1",  "etcd-pod-10",         "etcd-pod-2",
                       "etcd-pod-2x",     "etcd-pod-",  "etcd-pod--1", "kube-apiserver-pod-1"};
  EXPECT_EQ(outdated(etcd(), names, {2}), (Names{"etcd-pod-1", "etcd-pod-10"}));
  EXPECT_EQ(outdated(etcd(), names, {1, 2, 10}), Names{});
}

}  // namespace
}  // namespace slipway::components::static_pod_installer
