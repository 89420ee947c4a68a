// `cluster-config-operator render`: the cloud configuration of the cluster, in the form that components mount.
#pragma once

#include "base/json.h"
#include "components/program/program.h"

#include <optional>

namespace slipway::components::config_operator {

// The ConfigMap openshift-config-managed/kube-cloud-config.
//
//   infrastructure  spec.cloudConfig.key names the entry that becomes cloud.conf; other entries are kept
//   given           the user's ConfigMap; without it the result has no data
Json generated_cloud_config(const Json& infrastructure, const std::optional<Json>& given);

Result<> run_operator_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::config_operator
