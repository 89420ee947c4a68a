// What operators of static pods read from other objects: copies, facts about the cluster, and administrators' settings. A missing
// input becomes a line of Target::missing; no function here fails. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/render/inputs.h"
#include "components/render/manifest.h"
#include "components/static_pod/static_pod_operator.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components {

// Copies the data of `from` to the object `to`. The copy stays if the original is deleted.
//
//   maker  creator of the original, for the line about a missing one: "the kube-apiserver operator"; empty: it may be missing
void copy_object(Part::Kind kind, const ObjectName& from, const ObjectName& to, std::string_view maker, const Snapshot& seen,
                 Target& target);

// Adds ConfigMap SPACE/NAME with one key to the target.
void put_text(std::string_view space, std::string_view name, std::string_view key, std::string text, Target& target);

// An object named `cluster` that the installer creates. Null if it is missing, with a line.
const Json* find_cluster_object(const kube::ResourceType& type, const Snapshot& seen, Target& target);

// A text of the Infrastructure's status: "apiServerInternalURI". Empty if it is missing, with a line.
std::string infrastructure_text(std::string_view field, const Snapshot& seen, Target& target);

// The feature gates for a version of the release. Empty if they are missing, with a line.
std::optional<FeatureGates> find_gates(const std::string& version, const Snapshot& seen, Target& target);

// Adds the errors of `findings` as lines.
void add_missing(const Findings& findings, Target& target);

// Merges spec.observedConfig and spec.unsupportedConfigOverrides of the settings over a configuration.
Json with_overrides(Json config, const Json& settings);

}  // namespace slipway::components
