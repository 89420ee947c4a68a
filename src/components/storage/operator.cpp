#include "components/storage/operator.h"

#include "base/text.h"
#include "components/storage/claims.h"
#include "components/storage/provisioner.h"

#include <algorithm>
#include <array>

namespace slipway::components::storage {

namespace {

constexpr std::string_view default_annotation = "storageclass.kubernetes.io/is-default-class";

struct Class {
  std::string_view name, policy;
  bool may_be_default;
};
constexpr std::array classes = {Class{deleting_class, "Delete", true}, Class{retaining_class, "Retain", false}};

const std::vector<Watched> watched = {
    {kube::types::storage_classes},
    {kube::types::storage_drivers, "", {.fields = fmt::format("metadata.name={}", provisioner)}},
};

// There is no CSI driver. The scheduler looks at the capacities of a provisioner only if an object of its name says that there
// are some.
Json driver_object() {
  return JsonObject{{"apiVersion", "storage.k8s.io/v1"},
                    {"kind", "CSIDriver"},
                    {"metadata", JsonObject{{"name", provisioner}}},
                    {"spec", JsonObject{{"attachRequired", false}, {"podInfoOnMount", false}, {"storageCapacity", true}}}};
}

Json class_object(const Class& wanted, bool is_default) {
  JsonObject metadata{{"name", wanted.name}};
  if (wanted.may_be_default) metadata["annotations"] = JsonObject{{default_annotation, is_default ? "true" : "false"}};
  return JsonObject{{"apiVersion", "storage.k8s.io/v1"},
                    {"kind", "StorageClass"},
                    {"metadata", std::move(metadata)},
                    {"provisioner", provisioner},
                    {"reclaimPolicy", wanted.policy},
                    {"volumeBindingMode", "WaitForFirstConsumer"},
                    {"allowVolumeExpansion", false}};
}

Result<DesiredState> desired_state(const Snapshot& seen, WallTime) {
  DesiredState state;
  state.plan.desired_objects.push_back({kube::types::storage_drivers, driver_object()});
  bool is_complete = seen.find(kube::types::storage_drivers, "", provisioner) != nullptr;
  std::vector<std::string> foreign;
  const std::vector<const Json*> known = seen.list(kube::types::storage_classes);
  const bool has_default = std::ranges::any_of(
      known, [](const Json* each) { return text_of(*each, {"metadata", "annotations", default_annotation}) == "true"; });
  for (const Class& wanted : classes) {
    // Only created: which class is the default one is up to people.
    state.plan.desired_objects.push_back(
        {kube::types::storage_classes, class_object(wanted, !has_default), DesiredObject::How::create});
    const Json* live = seen.find(kube::types::storage_classes, "", wanted.name);
    if (!live) {
      is_complete = false;
    } else if (text_of(*live, {"provisioner"}) != provisioner) {
      foreign.push_back(fmt::format("StorageClass {} has provisioner {}, which is not this operator's (delete it, and it is "
                                    "created again)",
                                    wanted.name, text_of(*live, {"provisioner"})));
    }
  }
  Condition available{.type = "StorageAvailable", .is_true = true}, progressing{.type = "StorageProgressing"};
  Condition degraded{.type = "StorageDegraded"};
  if (!is_complete) {
    available = {available.type, false, "NoStorageClass", "StorageClasses are being created"};
    progressing = {progressing.type, true, available.reason, available.message};
  }
  if (!foreign.empty()) degraded = {degraded.type, true, "ForeignStorageClass", join(foreign, "; ")};
  state.conditions = {available, progressing, degraded};
  return state;
}

}  // namespace

WorkloadOperator make_operator(std::string space) {
  return {.name = "storage",
          .space = std::move(space),
          .watched = watched,
          .desired_state = desired_state,
          .observer = [](const sys::Context& context, kube::Api& api, View&) { return keep(context, api); },
          .settings = kube::types::storages};
}

}  // namespace slipway::components::storage
