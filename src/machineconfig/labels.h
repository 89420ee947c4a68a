// Labels and annotations of machine configuration, from openshift/machine-config-operator pkg/controller/common.
#pragma once

#include <string_view>

namespace slipway::machineconfig {

inline constexpr std::string_view api_version = "machineconfiguration.openshift.io/v1";

// Labels.
inline constexpr std::string_view role_label = "machineconfiguration.openshift.io/role";

// Annotations.
inline constexpr std::string_view generated_by = "machineconfiguration.openshift.io/generated-by-controller-version";
inline constexpr std::string_view config_generated_by =
    "machineconfiguration.openshift.io/generated-by-version";  // of a ControllerConfig
inline constexpr std::string_view release_version = "machineconfiguration.openshift.io/release-image-version";
inline constexpr std::string_view image_overridden = "machineconfiguration.openshift.io/os-image-url-overridden";

}  // namespace slipway::machineconfig
