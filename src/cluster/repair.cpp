#include "cluster/repair.h"

#include "base/check.h"
#include "base/guarded.h"
#include "base/text.h"
#include "base/yaml.h"
#include "data/data.h"
#include "kube/machine_table.h"
#include "kube/mapper.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::cluster {

namespace {

constexpr std::string_view manager = "slipway-repair";
constexpr Milliseconds limit = Seconds(120);
constexpr std::array access_kinds = {
    "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
};

constexpr std::string_view security_label = "pod-security.kubernetes.io/";
constexpr std::string_view security_level = "baseline";
constexpr std::array announced = {"warn", "audit"};

// Collects the texts of Warning headers (code 299, RFC 7234 5.5) of all answers.
class WarningHttp final : public net::Http {
 public:
  explicit WarningHttp(net::Http& http) : http_(http) {}

  Result<net::Answer> send(const net::Request& request, std::stop_token stop, const net::Sink& sink) override {
    Result<net::Answer> answer = http_.send(request, stop, sink);
    if (!answer.ok()) return answer;
    for (const net::Header& header : answer->headers) {
      if (to_lower(header.name) != "warning") continue;
      // 299 - "the text"
      const std::size_t begin = header.value.find('"'), end = header.value.rfind('"');
      if (begin == std::string::npos || begin == end) continue;
      std::string text = header.value.substr(begin + 1, end - begin - 1);
      for (std::size_t at = text.find("\\\""); at != std::string::npos; at = text.find("\\\"", at + 1)) text.erase(at, 1);
      warnings_.with_lock([&](auto& all) { all.push_back(text); });
    }
    return answer;
  }

  std::vector<std::string> take() {
    return warnings_.with_lock([](auto& all) { return std::exchange(all, {}); });
  }

 private:
  net::Http& http_;
  Guarded<std::vector<std::string>> warnings_;
};

RepairLine line_of(const kube::Manifest& manifest, const kube::Outcome& outcome) {
  using Kind = kube::Outcome::Kind;
  const std::string object = kube::describe(manifest.object);
  switch (outcome.kind) {
    case Kind::created: return {object, "created"};
    case Kind::updated: return {object, "updated"};
    case Kind::unchanged: return {object, "unchanged"};
    case Kind::differs:
      return {object, "kept",
              fmt::format("{} differs from this version of slipway, and belongs to the release of the cluster", outcome.detail)};
    case Kind::failed: return {object, "refused", outcome.detail};
    case Kind::waits: return {object, "waiting", outcome.detail};
  }
  return {object, "unknown"};
}

class Repair {
 public:
  Repair(const sys::Context& context, kube::Api& api, const std::function<std::vector<std::string>()>& take_warnings,
         const ReportLine& report)
      : context_(context), api_(api), take_warnings_(take_warnings), report_(report) {}

  Result<> run() {
    namespaces_ = TRY(kube::list(context_, api_, kube::types::namespaces, ""));
    // The three are independent: all run, also when one fails.
    const Result<> access = ensure_access(), table = ensure_table(), labels = label_namespaces();
    TRY(access);
    TRY(table);
    return labels;
  }

 private:
  bool has_namespace(std::string_view name) const {
    return std::ranges::any_of(namespaces_, [&](const Json& each) { return kube::name_of(each) == name; });
  }

  Result<> ensure_access() {
    std::vector<kube::Manifest> manifests;
    for (kube::Manifest& manifest : access_manifests()) {
      const std::string_view space = kube::namespace_of(manifest.object);
      if (space.empty() || has_namespace(space)) {
        manifests.push_back(std::move(manifest));
      } else {
        report_({kube::describe(manifest.object), "skipped", fmt::format("namespace {} does not exist", space)});
      }
    }
    kube::Mapper mapper(api_);
    return kube::ensure_all(
        context_, api_, mapper, std::move(manifests), {.manager = std::string(manager), .limit = limit},
        [&](const kube::Manifest& manifest, const kube::Outcome& outcome) { report_(line_of(manifest, outcome)); });
  }

  Result<> ensure_table() {
    const std::string object = fmt::format("ConfigMap {}/{}", kube::machine_table_space, kube::machine_table_name);
    const auto table =
        TRY(kube::find(context_, api_, kube::types::config_maps, kube::machine_table_space, kube::machine_table_name));
    if (table) {
      report_({object, "unchanged"});
      return Ok{};
    }
    const Json endpoints = TRY(kube::get(context_, api_, kube::types::config_maps, "openshift-etcd", "etcd-endpoints"));
    const kube::InitialRows first = kube::first_machine_rows(endpoints, TRY(kube::list(context_, api_, kube::types::nodes, "")));
    for (const std::string& problem : first.problems) report_({object, "incomplete", problem});
    const std::vector<std::string> masters = kube::names_with_role(first.rows, "master");
    if (masters.empty()) return error(Code::not_found, "{}: no etcd member matches a node", object);
    const Json fresh = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"namespace", kube::machine_table_space}, {"name", kube::machine_table_name}}}};
    TRY(kube::create(context_, api_, kube::types::config_maps, kube::with_machine_table(fresh, first.rows)));
    report_(
        {object, "created",
         fmt::format("masters: {}; workers: {}", join(masters, ", "), join(kube::names_with_role(first.rows, "worker"), ", "))});
    return Ok{};
  }

  Result<> label_namespaces() {
    for (const Json& each : namespaces_) {
      if (needs_pod_security_labels(each)) TRY(label(each));
    }
    return Ok{};
  }

  Result<> label(const Json& name_space) {
    const std::string name(kube::name_of(name_space));
    const auto patch = [&](const std::vector<std::string_view>& modes) {
      JsonObject labels;
      for (std::string_view mode : modes) labels[fmt::format("{}{}", security_label, mode)] = security_level;
      return Json{{"metadata", {{"labels", std::move(labels)}}}};
    };
    std::vector<std::string_view> missing;
    for (std::string_view mode : announced) {
      if (!find_string(name_space, {"metadata", "labels", fmt::format("{}{}", security_label, mode)})) missing.push_back(mode);
    }
    if (!missing.empty()) {
      TRY(kube::merge_patch(context_, api_, kube::types::namespaces, "", name, patch(missing)));
    }
    take_warnings_();
    TRY(api_.send(context_, {.method = "PATCH",
                             .path = kube::path_of(kube::types::namespaces, "", name) + "?dryRun=All",
                             .body = patch({"enforce"}),
                             .content_type = "application/merge-patch+json"}));
    const std::vector<std::string> refused = take_warnings_();
    report_({"Namespace " + name, missing.empty() ? "unchanged" : "labelled",
             refused.empty() ? std::string() : "enforcement would refuse: " + join(refused, "; ")});
    return Ok{};
  }

  const sys::Context& context_;
  kube::Api& api_;
  const std::function<std::vector<std::string>()>& take_warnings_;
  const ReportLine& report_;
  std::vector<Json> namespaces_;
};

// Removes the annotations that say which releases contain an object: they grant nothing, and differ between releases.
void remove_release_annotations(Json& object) {
  JsonObject* metadata = object.as_object()["metadata"].if_object();
  Json* annotations = metadata ? metadata->if_contains("annotations") : nullptr;
  if (!annotations || !annotations->is_object()) return;
  JsonObject kept;
  for (const auto& [key, value] : annotations->get_object()) {
    if (std::string_view(key).find("release.openshift.io/") == std::string_view::npos) kept.emplace(key, value);
  }
  if (kept.empty()) {
    metadata->erase("annotations");
  } else {
    *annotations = std::move(kept);
  }
}

}  // namespace

std::vector<kube::Manifest> access_manifests() {
  std::vector<kube::Manifest> manifests;
  for (const data::File& file : data::manifests()) {
    const Result<std::vector<YamlDocument>> documents = parse_yaml_documents(file.content, file.path);
    CHECK(documents.ok());
    for (const YamlDocument& document : documents.value()) {
      const std::string_view kind = find_string(document.value, {"kind"}).value_or("");
      if (std::ranges::find(access_kinds, kind) == access_kinds.end()) continue;
      // The release deletes this object.
      if (find_string(document.value, {"metadata", "annotations", "release.openshift.io/delete"}) == "true") continue;
      manifests.push_back({std::string(file.path), document.value});
      remove_release_annotations(manifests.back().object);
    }
  }
  return manifests;
}

bool needs_pod_security_labels(const Json& name_space) {
  const std::string_view name = kube::name_of(name_space);
  if (name == "openshift" || name.starts_with("openshift-") || name.starts_with("kube-")) return false;
  return !find_string(name_space, {"metadata", "labels", fmt::format("{}enforce", security_label)});
}

Result<> repair(const sys::Context& context, kube::Api& api, const std::function<std::vector<std::string>()>& take_warnings,
                const ReportLine& report) {
  return Repair(context, api, take_warnings, report).run();
}

Result<> repair(const net::Environment& environment, const kube::Access& access, const ReportLine& report) {
  WarningHttp http(environment.http);
  kube::Client api(http, access);
  return repair(
      environment.context, api, [&] { return http.take(); }, report);
}

}  // namespace slipway::cluster
