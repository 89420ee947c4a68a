// PersistentVolumeClaims of the local storage classes, and the PersistentVolumes that they get. Pure.
#pragma once

#include "components/controller/view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::storage {

// In StorageClasses and PersistentVolumes. The name of a CSIDriver has to be a domain, too (operator.h).
inline constexpr std::string_view provisioner = "local.slipway.internal";

// A PersistentVolume is deleted only after its folder.
inline constexpr std::string_view finalizer = "slipway.internal/volume";

// Of the scheduler: the Node of the first pod of the claim.
inline constexpr std::string_view selected_node = "volume.kubernetes.io/selected-node";

// What the provisioner keeps of objects that it watches (View); null: nothing. Of claims those that may need a volume.
Json reduce_claim(const Json& claim);
Json reduce_volume(const Json& volume);
Json reduce_node(const Json& node);
Json reduce_config_map(const Json& config_map);

// Name of the StorageClass of a claim; empty: none.
std::string class_of(const Json& claim);
// Name of the PersistentVolume that a claim gets.
std::string volume_name(const Json& claim);
// The requested size; nullopt: it has none.
std::optional<std::int64_t> requested_bytes(const Json& claim);
// The size of a PersistentVolume, 0 if it has none.
std::int64_t volume_bytes(const Json& volume);

// Why this claim cannot have a local volume, whatever the nodes have: all reasons. Empty if it can.
std::string problem_of(const Json& claim, const Json& storage_class);

// host_name: label kubernetes.io/hostname of the Node
Json make_volume(const Json& claim, const Json& storage_class, std::string_view node, std::string_view host_name);

// The claim of a PersistentVolume, as the object of an Event; the PersistentVolume itself if it has none.
Json claim_of(const Json& volume);

// The form in which servers store a quantity: "5Gi", "1536Mi".
std::string to_quantity(std::int64_t bytes);

}  // namespace slipway::components::storage
