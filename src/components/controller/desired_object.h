// DesiredObject: an object as a plan wants it, and its comparison with the object in the cluster. Pure.
#pragma once

#include "base/json.h"
#include "components/controller/view.h"
#include "kube/types.h"

#include <string>
#include <string_view>

namespace slipway::components {

struct DesiredObject {
  enum class How {
    // ConfigMaps and Secrets: `data` is exactly this. Labels and annotations are at least these; one that is null is removed.
    // Everything else stays. Other types: fields are at least these (server-side apply).
    apply,
    create,  // create it if it does not exist; never change an existing one
    status,  // only its status, which is exactly this. The object is from the snapshot, so a newer one is not overwritten
    remove,  // delete it; only type, namespace and name count. Fulfilled when its deletion has started
  };
  kube::ResourceType type;
  Json object;
  How how = How::apply;
};

// Namespace in which the server stores the object: "default" if it names none, empty for cluster-scoped types.
std::string space_of(const DesiredObject& desired);

// Type, namespace and name as one text, unique in a cluster.
std::string key_of(const DesiredObject& desired);

// Whether an object of this type is written as a whole: ConfigMaps and Secrets.
bool holds_data(const kube::ResourceType& type);

// Whether the object in the cluster (null: none) is as the plan wants it.
bool is_fulfilled(const DesiredObject& desired, const Json* live);

// The same with the object of a snapshot.
bool is_fulfilled(const DesiredObject& desired, const Snapshot& seen);

// The object without the fields that a server sets: a plan may have started from a copy of another object.
Json new_object(Json object);

// A ConfigMap or Secret with the type and the data of another one. space, name: of the new object
Json copy_of(const Json& original, std::string_view space, std::string_view name);

// A live ConfigMap or Secret with the data, labels and annotations of `wanted`.
Json updated_object(Json live, const Json& wanted);

// Whether a watch reports every change of an object, and its absence.
bool covers(const Watched& watched, const DesiredObject& desired);

}  // namespace slipway::components
