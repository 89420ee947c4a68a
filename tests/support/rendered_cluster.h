// RenderedCluster: a cluster as an operator of the control plane sees it at its start: the output of all render commands, three
// masters, and the objects that the kube-apiserver operator publishes for others. Desired objects are applied without a server.
//
//   RenderedCluster cluster;
//   const int rounds = cluster.settle(work, variables);
//   EXPECT_EQ(cluster.text(config_maps, "openshift-kube-scheduler", "config", "config.yaml"), ...);
//
// StaticPodCluster is a RenderedCluster with an operator under test.
#pragma once

#include "base/yaml.h"
#include "components/controller/certificate_rotation.h"
#include "components/render/manifest.h"
#include "components/static_pod/static_pod_operator.h"
#include "kube/machine_table.h"
#include "support/render_world.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::testing_support {

inline components::OperatorVariables operator_variables(const std::string& operand = "hyperkube") {
  return {"registry.example.com/" + operand + "@sha256:1", "registry.example.com/operator@sha256:2", "0.1.0", "0.1.0"};
}

class RenderedCluster {
 public:
  RenderedCluster() {
    FileTree files = completed_input();
    for (const Component& component : other_components()) files.merge(written(component, completed_input()));
    for (const auto& [path, file] : files) {
      const bool is_manifest = path.starts_with("/assets/") && path.find("/manifests/") != std::string::npos;
      if (is_manifest && !path.ends_with("/")) put_manifests(path, file.content);
    }
    for (int i = 0; i < 3; ++i) put_master(i);
    put_gifts(files);
  }

  void put(Json object) {
    if (!find_string(object, {"metadata", "creationTimestamp"})) {
      object.as_object()["metadata"].as_object()["creationTimestamp"] = to_rfc3339(now);
    }
    object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    view.put(std::move(object));
  }

  // Admits a machine, as the approver does.
  void admit(std::string name, std::string role) {
    const Json* object = view.snapshot().find(kube::types::config_maps, kube::machine_table_space, kube::machine_table_name);
    ASSERT_TRUE(object != nullptr);
    kube::MachineTable rows = kube::parse_machine_table(*object).value();
    std::erase_if(rows, [&](const kube::MachineRow& row) { return row.name == name; });
    rows.push_back({std::move(name), std::move(role), {}});
    put(kube::with_machine_table(*object, rows));
  }

  // ConfigMap openshift-config/certificate-lifetimes.
  void set_lifetimes(const components::Texts& data) {
    put(components::config_map({std::string(components::lifetimes_space), std::string(components::lifetimes_name)}, data));
  }

  bool has(const kube::ResourceType& type, std::string_view space, std::string_view name) const {
    return view.snapshot().find(type, space, name) != nullptr;
  }

  // The value of a key of a ConfigMap or Secret; "no NAME" if it does not exist.
  std::string text(const kube::ResourceType& type, std::string_view space, std::string_view name, std::string_view key) const {
    return components::data_of(view.snapshot().find(type, space, name), key).value_or(fmt::format("no {}", name));
  }
  Json document(std::string_view space, std::string_view name, std::string_view key) const {
    const Result<YamlDocument> parsed = parse_yaml(text(kube::types::config_maps, space, name, key), name);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message();
    return parsed.ok() ? parsed.value().value : Json();
  }

  // Applies the desired objects that differ; returns their number.
  int play(const components::Plan& plan) {
    int count = 0;
    for (const components::DesiredObject& desired : plan.desired_objects) {
      if (components::is_fulfilled(desired, view.snapshot())) continue;
      ++count;
      fulfil(desired);
    }
    return count;
  }

  // Plans and applies until a plan has no changes; returns the number of rounds with changes.
  int settle(const components::StaticPodOperator& work, const components::OperatorVariables& variables) {
    for (int rounds = 0; rounds < 30; ++rounds) {
      const Result<components::Plan> plan = components::plan_static_pods(work, variables, view.snapshot(), now);
      EXPECT_TRUE(plan.ok()) << plan.error().message();
      if (!plan.ok() || play(plan.value()) == 0) return rounds;
    }
    ADD_FAILURE() << "there is no end of it";
    return 30;
  }

  components::View view;
  WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};

 private:
  void put_manifests(const std::string& path, const std::string& text) {
    const Result<std::vector<YamlDocument>> documents = parse_yaml_documents(text, path);
    ASSERT_TRUE(documents.ok()) << documents.error().message();
    for (const YamlDocument& document : documents.value()) {
      if (find_string(document.value, {"metadata", "name"})) put(document.value);
    }
  }

  void put_master(int number) {
    admit(fmt::format("master-{}", number), "master");
    put({{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", fmt::format("master-{}", number)}, {"labels", {{"node-role.kubernetes.io/master", ""}}}}},
         {"status",
          {{"addresses", Json(JsonArray{Json{{"type", "InternalIP"}, {"address", fmt::format("10.97.77.1{}", number)}}})},
           {"conditions", Json(JsonArray{Json{{"type", "Ready"}, {"status", "True"}}})}}}});
  }

  // The objects that the kube-apiserver operator publishes for the other operators.
  void put_gifts(const FileTree& files) {
    const std::string managed = "openshift-config-managed";
    const auto bundle = [&](std::string_view name, std::string_view file) {
      put(components::config_map({managed, std::string(name)},
                                 {{"ca-bundle.crt", files.at(fmt::format("/assets/tls/{}.crt", file)).content}}));
    };
    bundle("kube-apiserver-server-ca", "kube-apiserver-complete-server-ca-bundle");
    bundle("kube-apiserver-client-ca", "kube-apiserver-complete-client-ca-bundle");
    bundle("kube-apiserver-aggregator-client-ca", "aggregator-signer");
    for (std::string_view name : {"kube-controller-manager", "kube-scheduler"}) {
      const std::string file = fmt::format("/assets/tls/kube-control-plane-{}-client", name);
      put(components::secret({managed, fmt::format("{}-client-cert-key", name)}, "kubernetes.io/tls",
                             {{"tls.crt", files.at(file + ".crt").content}, {"tls.key", files.at(file + ".key").content}}));
    }
  }

  void fulfil(const components::DesiredObject& desired) {
    const std::string space(kube::namespace_of(desired.object)), name(kube::name_of(desired.object));
    if (desired.how == components::DesiredObject::How::remove) {
      view.remove(desired.type, space, name);
      return;
    }
    const components::Snapshot seen = view.snapshot();
    const Json* before = seen.find(desired.type, space, name);
    Json after = desired.object;
    if (before != nullptr) {
      Json metadata = before->at("metadata");
      for (const char* member : {"labels", "annotations"}) {
        for (const auto& [key, value] : find_object(desired.object, {"metadata", member})) {
          metadata.as_object()[member].is_object() ? void() : void(metadata.as_object()[member] = JsonObject());
          if (value.is_null()) {
            metadata.as_object()[member].as_object().erase(key);
          } else {
            metadata.as_object()[member].as_object()[key] = value;
          }
        }
      }
      after.as_object()["metadata"] = metadata;
    }
    put(std::move(after));
  }

  int version_ = 100;
};

class StaticPodCluster : public RenderedCluster {
 public:
  StaticPodCluster(components::StaticPodOperator made, components::OperatorVariables variables)
      : work(std::move(made)), variables_(std::move(variables)) {
    set_spec({{"managementState", "Managed"}});
  }

  // Sets the spec of the operator's settings.
  void set_spec(JsonObject spec) {
    const kube::ResourceType& type = work.operand.settings;
    put({{"apiVersion", type.api_version()},
         {"kind", type.kind},
         {"metadata", {{"name", "cluster"}}},
         {"spec", std::move(spec)}});
  }

  int settle() { return RenderedCluster::settle(work, variables_); }
  components::Target target() const {
    const components::Snapshot seen = view.snapshot();
    Result<components::Target> target = work.target(seen, *seen.find(work.operand.settings, "", "cluster"), now);
    EXPECT_TRUE(target.ok()) << target.error().message();
    return target.ok() ? std::move(target).value() : components::Target{};
  }
  bool has_revision(int number) const {
    return has(kube::types::config_maps, work.operand.space, fmt::format("revision-status-{}", number));
  }

  components::StaticPodOperator work;

 private:
  components::OperatorVariables variables_;
};

// Expects that the operator creates one complete revision from the output of the render commands, and then has no changes.
inline void expect_one_revision(StaticPodCluster& cluster) {
  cluster.settle();
  EXPECT_EQ(cluster.target().missing, std::vector<std::string>{});
  EXPECT_TRUE(cluster.has_revision(1));
  EXPECT_FALSE(cluster.has_revision(2));
  const components::Operand& operand = cluster.work.operand;
  for (const components::Part& part : operand.revisioned) {
    EXPECT_TRUE(cluster.has(part.type(), operand.space, part.name + "-1")) << part.name;
  }
  for (const components::Part& part : operand.unversioned) {
    EXPECT_EQ(cluster.has(part.type(), operand.space, part.name), !part.is_optional) << part.name;
  }
  EXPECT_EQ(cluster.settle(), 0);
}

// An object that the operator needs, and the start of the message without it.
struct NeededInput {
  kube::ResourceType type;
  std::string space, name;
  std::string line;
};

// The messages without an input. No revision is created then.
template <class Cluster>
std::vector<std::string> missing_without(const NeededInput& input) {
  Cluster cluster;
  cluster.view.remove(input.type, input.space, input.name);
  cluster.settle();
  EXPECT_FALSE(cluster.has_revision(1)) << input.line;
  return cluster.target().missing;
}

}  // namespace slipway::testing_support
