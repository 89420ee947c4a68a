// What operators of static pods put together for their operand from objects of others: copies, facts of the cluster, and what
// administrators set. What is not there yet becomes a line of Target::missing; nothing here fails. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/render/inputs.h"
#include "components/render/manifest.h"
#include "components/static_pod/static_pod_operator.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components {

// Object `to` gets the data of `from`. What was copied stays when the original goes away.
//
//   maker  of the original, for the line about a missing one: "the kube-apiserver operator"; empty: it may be missing
void copy_object(Part::Kind kind, const ObjectName& from, const ObjectName& to, std::string_view maker, const Snapshot& seen,
                 Target& target);

// ConfigMap SPACE/NAME with one key becomes part of the target.
void put_text(std::string_view space, std::string_view name, std::string_view key, std::string text, Target& target);

// An object named `cluster`, which the installer makes; null with a line.
const Json* find_fact(const kube::ResourceType& type, const Snapshot& seen, Target& target);

// A text of the Infrastructure's status: "apiServerInternalURI"; empty with a line.
std::string infrastructure_fact(std::string_view field, const Snapshot& seen, Target& target);

// What the FeatureGate says for a version of the release; nothing with a line.
std::optional<FeatureGates> find_gates(const std::string& version, const Snapshot& seen, Target& target);

// The lines of findings.
void add_missing(const Findings& findings, Target& target);

// Over a configuration that was made: spec.observedConfig and spec.unsupportedConfigOverrides of the settings.
Json with_overrides(Json made, const Json& settings);

}  // namespace slipway::components
