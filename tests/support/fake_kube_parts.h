// Helpers of fake_kube.cpp for paths, selectors and patches.
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "kube/types.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::testing_support {

inline std::string percent_decode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      result += text[i];
    } else {
      result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    }
  }
  return result;
}

inline std::map<std::string, std::string> parse_query(std::string_view path) {
  std::map<std::string, std::string> query;
  const std::size_t mark = path.find('?');
  if (mark == std::string_view::npos) return query;
  for (std::string_view part : split(path.substr(mark + 1), '&')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) query[std::string(part.substr(0, equals))] = percent_decode(part.substr(equals + 1));
  }
  return query;
}

// Whether "a=b,c!=d,e,!f" matches; `value_of` returns the value of a key.
template <class ValueOf>
bool matches(std::string_view selector, ValueOf value_of) {
  if (selector.empty()) return true;
  for (std::string_view term : split(selector, ',')) {
    const std::size_t equals = term.find('=');
    if (equals == std::string_view::npos) {
      const bool is_absent = term.starts_with('!');
      if (value_of(term.substr(is_absent ? 1 : 0)).has_value() == is_absent) return false;
      continue;
    }
    const bool is_unequal = equals > 0 && term[equals - 1] == '!';
    const std::string_view key = term.substr(0, is_unequal ? equals - 1 : equals);
    std::string_view wanted = term.substr(equals + 1);
    if (wanted.starts_with('=')) wanted.remove_prefix(1);
    if ((value_of(key).value_or("") == wanted) == is_unequal) return false;
  }
  return true;
}

inline bool is_selected(const Json& object, const std::string& labels, const std::string& fields) {
  return matches(labels,
                 [&](std::string_view key) {
                   return find_string(object, {"metadata", "labels", key});
                 }) &&
         matches(fields, [&](std::string_view key) -> std::optional<std::string_view> {
           const Json* at = &object;
           for (std::string_view part : split(key, '.')) at = at ? find(*at, {part}) : nullptr;
           return at && at->is_string() ? std::optional<std::string_view>(at->get_string()) : std::nullopt;
         });
}

// RFC 7396.
inline void merge_into(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = JsonObject();
  for (const auto& [key, value] : patch.get_object()) {
    if (value.is_null()) {
      target.get_object().erase(key);
    } else {
      merge_into(target.get_object()[key], value);
    }
  }
}

// API types of every cluster, and whether they have a status.
inline const std::vector<std::pair<kube::ResourceType, bool>>& common_types() {
  using namespace kube;
  static const std::vector<std::pair<ResourceType, bool>> all = {
      {types::namespaces, true},
      {types::nodes, true},
      {types::pods, true},
      {types::services, true},
      {types::endpoints, false},
      {types::config_maps, false},
      {types::secrets, false},
      {types::service_accounts, false},
      {types::events, false},
      {types::deployments, true},
      {types::daemon_sets, true},
      {types::leases, false},
      {types::certificate_requests, true},
      {types::roles, false},
      {types::role_bindings, false},
      {types::cluster_roles, false},
      {types::cluster_role_bindings, false},
      {types::custom_resource_definitions, true},
      {types::subject_access_reviews, false},
      {{"", "v1", "persistentvolumes", "PersistentVolume", false}, true},
      {{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"}, true},
      {{"apps", "v1", "replicasets", "ReplicaSet"}, true},
      {{"apps", "v1", "statefulsets", "StatefulSet"}, true},
      {{"batch", "v1", "jobs", "Job"}, true},
      {{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"}, true},
      {{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false}, false},
      {{"storage.k8s.io", "v1", "storageclasses", "StorageClass", false}, false},
      {{"apiregistration.k8s.io", "v1", "apiservices", "APIService", false}, true},
      {{"networking.k8s.io", "v1", "ingresses", "Ingress"}, true},
      {{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false}, false},
  };
  return all;
}

}  // namespace slipway::testing_support
