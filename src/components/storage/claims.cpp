#include "components/storage/claims.h"

#include "base/text.h"
#include "components/controller/object_parts.h"
#include "kube/node_volumes.h"
#include "machineconfig/pool_settings.h"

#include <fmt/core.h>

#include <array>
#include <utility>
#include <vector>

namespace slipway::components::storage {

namespace {

constexpr std::string_view provisioned_by = "pv.kubernetes.io/provisioned-by";
constexpr std::string_view class_annotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view host_label = "kubernetes.io/hostname";

bool is_set(const Json& object, std::initializer_list<std::string_view> keys) {
  const Json* value = find(object, keys);
  if (!value || value->is_null()) return false;
  if (value->is_object()) return !value->get_object().empty();
  return !value->is_string() || !value->get_string().empty();
}

}  // namespace

Json reduce_claim(const Json& claim) {
  const std::string phase = text_of(claim, {"status", "phase"});
  if ((!phase.empty() && phase != "Pending") || is_set(claim, {"spec", "volumeName"}) ||
      is_terminating(claim)) {
    return {};
  }
  JsonObject kept = reduced(claim, {"name", "namespace", "uid", "resourceVersion"});
  kept["metadata"].as_object()["annotations"] =
      part_of(find_object(claim, {"metadata", "annotations"}), {selected_node, class_annotation});
  kept["spec"] = find_object(claim, {"spec"});
  return kept;
}

Json reduce_volume(const Json& volume) {
  if (text_of(volume, {"metadata", "annotations", provisioned_by}) != provisioner) return {};
  Json kept = volume;
  kept.as_object()["metadata"].as_object().erase("managedFields");
  return kept;
}

Json reduce_node(const Json& node) {
  // Without the version, which changes every few seconds.
  JsonObject kept = reduced(node, {"name", "uid"});
  kept["metadata"].as_object()["labels"] = JsonObject{{host_label, text_of(node, {"metadata", "labels", host_label})}};
  return kept;
}

Json reduce_config_map(const Json& config_map) {
  const std::string_view name = kube::name_of(config_map);
  if (!name.starts_with(kube::orders_name("")) && !name.starts_with(kube::storage_name(""))) return {};
  Json kept = config_map;
  kept.as_object()["metadata"].as_object().erase("managedFields");
  return kept;
}

std::string class_of(const Json& claim) {
  const auto old = find_string(claim, {"metadata", "annotations", class_annotation});
  return old ? std::string(*old) : text_of(claim, {"spec", "storageClassName"});
}

std::string volume_name(const Json& claim) { return fmt::format("pvc-{}", text_of(claim, {"metadata", "uid"})); }

std::optional<std::int64_t> requested_bytes(const Json& claim) {
  const Json* size = find(claim, {"spec", "resources", "requests", "storage"});
  return size ? machineconfig::quantity_value(*size) : std::nullopt;
}

std::int64_t volume_bytes(const Json& volume) {
  const Json* size = find(volume, {"spec", "capacity", "storage"});
  return size ? machineconfig::quantity_value(*size).value_or(0) : 0;
}

std::string problem_of(const Json& claim, const Json& storage_class) {
  std::vector<std::string> problems;
  const std::string class_name(kube::name_of(storage_class));
  if (text_of(claim, {"spec", "volumeMode"}) == "Block") {
    problems.emplace_back("spec.volumeMode: a local volume is a folder (use Filesystem)");
  }
  for (const std::string& mode : texts_of(claim, {"spec", "accessModes"})) {
    if (mode != "ReadWriteOnce" && mode != "ReadWriteOncePod") {
      problems.push_back(
          fmt::format("spec.accessModes: {}: a local volume is on one node (use ReadWriteOnce or ReadWriteOncePod)", mode));
    }
  }
  if (is_set(claim, {"spec", "selector"})) {
    problems.emplace_back("spec.selector: a new volume has no labels to select (remove it)");
  }
  for (const char* source : {"dataSource", "dataSourceRef"}) {
    if (is_set(claim, {"spec", source})) {
      problems.push_back(fmt::format("spec.{}: local volumes cannot be filled from snapshots or other claims", source));
    }
  }
  if (is_set(claim, {"spec", "volumeAttributesClassName"})) {
    problems.emplace_back("spec.volumeAttributesClassName: local volumes have no such attributes");
  }
  if (requested_bytes(claim).value_or(0) <= 0) problems.emplace_back("spec.resources.requests.storage: missing");
  if (is_set(storage_class, {"parameters"})) {
    problems.push_back(fmt::format("StorageClass {}: parameters: {} has none", class_name, provisioner));
  }
  if (text_of(storage_class, {"volumeBindingMode"}) != "WaitForFirstConsumer") {
    problems.push_back(fmt::format("StorageClass {}: volumeBindingMode: must be WaitForFirstConsumer, because only a pod decides "
                                   "which node a local volume is on",
                                   class_name));
  }
  return join(problems, "; ");
}

Json make_volume(const Json& claim, const Json& storage_class, std::string_view node, std::string_view host_name) {
  const std::string name = volume_name(claim);
  const Json* size = find(claim, {"spec", "resources", "requests", "storage"});
  const std::string policy = text_of(storage_class, {"reclaimPolicy"});
  const Json expression = JsonObject{{"key", host_label}, {"operator", "In"}, {"values", JsonArray{Json(host_name)}}};
  const Json term = JsonObject{{"matchExpressions", JsonArray{expression}}};
  JsonObject spec{{"capacity", JsonObject{{"storage", size ? *size : Json("0")}}},
                  {"accessModes", find_array(claim, {"spec", "accessModes"})},
                  {"volumeMode", "Filesystem"},
                  {"persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy},
                  {"storageClassName", kube::name_of(storage_class)},
                  {"claimRef", JsonObject{{"apiVersion", "v1"},
                                          {"kind", "PersistentVolumeClaim"},
                                          {"namespace", kube::namespace_of(claim)},
                                          {"name", kube::name_of(claim)},
                                          {"uid", text_of(claim, {"metadata", "uid"})}}},
                  {"nodeAffinity", JsonObject{{"required", JsonObject{{"nodeSelectorTerms", JsonArray{term}}}}}},
                  {"local", JsonObject{{"path", fmt::format("{}/{}", kube::volumes_folder, name)}}}};
  if (const JsonArray& options = find_array(storage_class, {"mountOptions"}); !options.empty()) spec["mountOptions"] = options;
  return JsonObject{{"apiVersion", "v1"},
                    {"kind", "PersistentVolume"},
                    {"metadata", JsonObject{{"name", name},
                                            {"annotations", JsonObject{{provisioned_by, provisioner}, {kube::volume_node, node}}},
                                            {"finalizers", JsonArray{Json(finalizer)}}}},
                    {"spec", std::move(spec)}};
}

Json claim_of(const Json& volume) {
  const JsonObject& reference = find_object(volume, {"spec", "claimRef"});
  if (reference.empty()) return volume;
  JsonObject metadata;
  for (const char* key : {"namespace", "name", "uid"}) metadata[key] = text_of(volume, {"spec", "claimRef", key});
  return JsonObject{{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}, {"metadata", std::move(metadata)}};
}

std::string to_quantity(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> suffixes = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t power = 0;
  while (bytes != 0 && bytes % 1024 == 0 && power + 1 < suffixes.size()) {
    bytes /= 1024;
    ++power;
  }
  return fmt::format("{}{}", bytes, suffixes[power]);
}

}  // namespace slipway::components::storage
