// RenderedCluster: what an operator of the control plane sees when it begins: all that the render commands made, three masters,
// and what the kube-apiserver operator gives to others. Wishes come true in it without a server.
//
//   RenderedCluster cluster;
//   const int rounds = cluster.settle(work, variables);
//   EXPECT_EQ(cluster.text(config_maps, "openshift-kube-scheduler", "config", "config.yaml"), ...);
#pragma once

#include "base/yaml.h"
#include "operators/lib/certificate_rotation.h"
#include "operators/lib/manifest.h"
#include "operators/lib/static_pod_operator.h"
#include "support/render_world.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::testing_support {

inline operators::OperatorVariables operator_variables(const std::string& operand = "hyperkube") {
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

  // What a key of a ConfigMap or Secret holds; "no NAME" without it.
  std::string text(const kube::ResourceType& type, std::string_view space, std::string_view name, std::string_view key) const {
    return operators::held(view.snapshot().find(type, space, name), key).value_or(fmt::format("no {}", name));
  }
  Json document(std::string_view space, std::string_view name, std::string_view key) const {
    const Result<YamlDocument> parsed = parse_yaml(text(kube::types::config_maps, space, name, key), name);
    EXPECT_TRUE(parsed.ok()) << parsed.error().message();
    return parsed.ok() ? parsed.value().value : Json();
  }

  // Makes what is not yet so; returns how much that was.
  int play(const operators::Plan& plan) {
    int count = 0;
    for (const operators::Wish& wish : plan.wishes) {
      if (operators::is_fulfilled(wish, view.snapshot())) continue;
      ++count;
      fulfil(wish);
    }
    return count;
  }

  // Plans until a plan wants nothing; returns how many did want something.
  int settle(const operators::StaticPodOperator& work, const operators::OperatorVariables& variables) {
    for (int rounds = 0; rounds < 30; ++rounds) {
      const Result<operators::Plan> plan = operators::plan_static_pods(work, variables, view.snapshot(), now);
      EXPECT_TRUE(plan.ok()) << plan.error().message();
      if (!plan.ok() || play(plan.value()) == 0) return rounds;
    }
    ADD_FAILURE() << "there is no end of it";
    return 30;
  }

  operators::View view;
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
    put({{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", fmt::format("master-{}", number)}, {"labels", {{"node-role.kubernetes.io/master", ""}}}}},
         {"status",
          {{"addresses", Json(JsonArray{Json{{"type", "InternalIP"}, {"address", fmt::format("10.97.77.1{}", number)}}})},
           {"conditions", Json(JsonArray{Json{{"type", "Ready"}, {"status", "True"}}})}}}});
  }

  // Of the kube-apiserver operator (operators 8.5).
  void put_gifts(const FileTree& files) {
    const std::string managed = "openshift-config-managed";
    const auto bundle = [&](std::string_view name, std::string_view file) {
      put(operators::config_map({managed, std::string(name)},
                                {{"ca-bundle.crt", files.at(fmt::format("/assets/tls/{}.crt", file)).content}}));
    };
    bundle("kube-apiserver-server-ca", "kube-apiserver-complete-server-ca-bundle");
    bundle("kube-apiserver-client-ca", "kube-apiserver-complete-client-ca-bundle");
    bundle("kube-apiserver-aggregator-client-ca", "aggregator-signer");
    for (std::string_view name : {"kube-controller-manager", "kube-scheduler"}) {
      const std::string file = fmt::format("/assets/tls/kube-control-plane-{}-client", name);
      put(operators::secret({managed, fmt::format("{}-client-cert-key", name)}, "kubernetes.io/tls",
                            {{"tls.crt", files.at(file + ".crt").content}, {"tls.key", files.at(file + ".key").content}}));
    }
  }

  void fulfil(const operators::Wish& wish) {
    const std::string space(kube::namespace_of(wish.object)), name(kube::name_of(wish.object));
    if (wish.how == operators::Wish::How::remove) {
      view.remove(wish.type, space, name);
      return;
    }
    const operators::Snapshot seen = view.snapshot();
    const Json* before = seen.find(wish.type, space, name);
    Json after = wish.object;
    if (before != nullptr) {
      Json metadata = before->at("metadata");
      for (const char* member : {"labels", "annotations"}) {
        for (const auto& [key, value] : find_object(wish.object, {"metadata", member})) {
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

}  // namespace slipway::testing_support
