// Names that the controller in the cluster shares with the service, which generates its manifests, and with the host that carries
// the bootstrap, which waits for its report. Namespace and Event are those of OpenShift's assisted-installer.
#pragma once

#include <string_view>

namespace slipway::assist {

inline constexpr std::string_view controller_space = "assisted-installer";
inline constexpr std::string_view controller_name = "assisted-installer-controller";

// ConfigMap in its namespace, for people: the state of the cluster while the service does not answer.
inline constexpr std::string_view controller_report_name = "assisted-installer-controller-report";

// Reason of the Event that the controller creates in its namespace when it has reached the service.
inline constexpr std::string_view controller_ready_reason = "AssistedControllerIsReady";

// In bootstrap.ign: the Deployment of the controller, without its image. The host that carries the bootstrap fills in the image
// of the release (controller_component) and writes it to the manifests.
inline constexpr std::string_view controller_template = "/opt/openshift/assisted-installer-controller.yaml";
inline constexpr std::string_view controller_manifest =
    "/opt/openshift/openshift/99_assisted-installer-controller_9_deployment.yaml";
inline constexpr std::string_view controller_image_hole = "CONTROLLER_IMAGE";
inline constexpr std::string_view controller_component = "cluster-machine-approver";

}  // namespace slipway::assist
