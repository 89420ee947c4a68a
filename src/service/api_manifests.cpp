// Manifests of users, which become a part of the cluster when it is installed.
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "service/api_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace slipway::service {

namespace {

constexpr std::size_t most_manifests = 100, most_bytes = 4 << 20, longest_name = 200;
constexpr std::array<std::string_view, 2> folders = {"manifests", "openshift"};
constexpr std::array<std::string_view, 3> endings = {".yaml", ".yml", ".json"};

using Manifests = std::map<std::string, std::string>;  // by path

// "openshift/99-worker.yaml". errors: invalid
Result<std::string> path_of(std::string_view folder, std::string_view name) {
  if (folder.empty()) folder = folders.front();
  if (std::ranges::find(folders, folder) == folders.end())
    return error(Code::invalid, "folder: '{}' is not manifests or openshift", to_utf8(folder));
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  const bool has_ending = std::ranges::any_of(endings, [&](std::string_view each) { return name.ends_with(each); });
  if (!has_ending || name.size() > longest_name || name.front() == '.' || !std::ranges::all_of(name, is_allowed)) {
    return error(Code::invalid,
                 "file_name: '{}' must end in .yaml, .yml or .json and have at most {} letters, digits, '-', '_' and '.'",
                 to_utf8(name), longest_name);
  }
  return fmt::format("{}/{}", folder, name);
}

// The decoded content, with objects of Kubernetes. errors: invalid
Result<std::string> content_of(std::string_view encoded, const std::string& path) {
  const std::string content = TRY(base64_decode(encoded).context("content"));
  const std::vector<YamlDocument> documents = TRY(parse_yaml_documents(content, path));
  if (documents.empty()) return error(Code::invalid, "{}: has no object", path);
  for (const YamlDocument& each : documents) {
    if (!find_string(each.value, {"apiVersion"}) || !find_string(each.value, {"kind"}))
      return error(Code::invalid, "{}: an object without apiVersion or kind", path);
  }
  return content;
}

Json manifest_view(std::string_view path) {
  const std::size_t slash = path.find('/');
  return {{"folder", path.substr(0, slash)}, {"file_name", path.substr(slash + 1)}, {"manifest_source", "user"}};
}

Error no_manifest(std::string_view path) { return error(Code::not_found, "the cluster has no manifest {}", path); }

Result<> check_size(const Manifests& all) {
  std::size_t bytes = 0;
  for (const auto& [path, content] : all) bytes += content.size();
  if (all.size() <= most_manifests && bytes <= most_bytes) return Ok{};
  return error(Code::invalid, "a cluster may have {} manifests with {} together", most_manifests, human_size(most_bytes));
}

// Changes the manifests of a cluster that is not being installed. The change gets those that there are, and makes the new ones.
template <class Change>
Result<> change_manifests(Api& api, const std::string& cluster, const Change& change) {
  if (api.options.is_on_bootstrap_host)
    return error(Code::conflict, "the configs of this cluster were made together with its image: add the manifests there");
  const Manifests before = TRY(api.core.files(manifests_of(cluster)));
  Manifests after = before;
  TRY(change(after));
  TRY(check_size(after));
  return change_cluster(api, cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    TRY(check_may_change(record));
    if (record.cluster.is_day_two)
      return error(Code::conflict, "cluster {} exists: use kubectl to change its objects", record.cluster.name);
    for (const auto& [path, content] : before) {
      if (!after.contains(path)) edit.remove_file(manifests_of(cluster), path);
    }
    for (const auto& [path, content] : after) {
      const auto old = before.find(path);
      if (old == before.end() || old->second != content) edit.put_file(manifests_of(cluster), path, content);
    }
    edit.add(update_event(record, "manifests"));
    return Ok{};
  });
}

}  // namespace

Answer list_manifests(Api& api, const Call& call) {
  JsonArray list;
  const Manifests all = TRY(api.core.files(manifests_of(call.target.cluster)));
  for (const auto& [path, content] : all) list.push_back(manifest_view(path));
  return json_answer(200, list);
}

Answer get_manifest(Api& api, const Call& call) {
  const std::string path = TRY(path_of(call["folder"], call["file_name"]));
  const std::optional<std::string> content = TRY(api.core.file(manifests_of(call.target.cluster), path));
  if (!content) return no_manifest(path);
  return file_answer(*content, call["file_name"]);
}

// A manifest with the same name is replaced, so that the request may be repeated.
Answer create_manifest(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string path = TRY(path_of(text_of(body, {"folder"}), TRY(require_string(body, {"file_name"}))));
  const std::string content = TRY(content_of(TRY(require_string(body, {"content"})), path));
  TRY(change_manifests(api, call.target.cluster, [&](Manifests& all) -> Result<> {
    all[path] = content;
    return Ok{};
  }));
  return json_answer(201, manifest_view(path));
}

Answer update_manifest(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string name = TRY(require_string(body, {"file_name"})), folder = text_of(body, {"folder"});
  const std::string path = TRY(path_of(folder, name));
  const std::string new_name = text_of(body, {"updated_file_name"}), new_folder = text_of(body, {"updated_folder"});
  const std::string new_path = TRY(path_of(new_folder.empty() ? folder : new_folder, new_name.empty() ? name : new_name));
  std::optional<std::string> content;
  if (body.contains("updated_content")) content = TRY(content_of(TRY(require_string(body, {"updated_content"})), new_path));
  TRY(change_manifests(api, call.target.cluster, [&](Manifests& all) -> Result<> {
    const auto old = all.find(path);
    if (old == all.end()) return no_manifest(path);
    if (new_path != path && all.contains(new_path))
      return error(Code::conflict, "the cluster has a manifest {} already", new_path);
    std::string kept = content ? *content : old->second;
    all.erase(old);
    all[new_path] = std::move(kept);
    return Ok{};
  }));
  return json_answer(200, manifest_view(new_path));
}

Answer delete_manifest(Api& api, const Call& call) {
  const std::string path = TRY(path_of(call["folder"], call["file_name"]));
  TRY(change_manifests(api, call.target.cluster, [&](Manifests& all) -> Result<> {
    return all.erase(path) == 0 ? Result<>(no_manifest(path)) : Result<>(Ok{});
  }));
  return empty_answer(200);
}

}  // namespace slipway::service
