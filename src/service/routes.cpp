#include "service/api_parts.h"

#include <array>

namespace slipway::service {

namespace {

constexpr Audience users = {.user = true};
constexpr Audience users_and_hosts = {.user = true, .host = true, .controller = true};
constexpr Audience users_and_files = {.user = true, .file = true};
constexpr Audience all_of_files = {.user = true, .host = true, .controller = true, .file = true};
constexpr Audience images = {.image = true};
constexpr Audience users_and_images = {.user = true, .image = true};
constexpr Audience agents = {.agent = true};
constexpr Audience hosts = {.host = true};
constexpr Audience hosts_and_controllers = {.host = true, .controller = true};
constexpr Audience controllers = {.controller = true};
constexpr Audience administrators = {};
constexpr Audience everyone = {.anyone = true};

// Administrators may use every route.
constexpr std::array all = {
    Route{"POST", "/clusters", administrators, create_cluster},
    Route{"GET", "/clusters", users, list_clusters},
    Route{"GET", "/clusters/default-config", users, get_default_config},
    Route{"POST", "/clusters/import", administrators, import_cluster},
    Route{"GET", "/clusters/{c}", users_and_hosts, get_cluster},
    Route{"PATCH", "/clusters/{c}", users, update_cluster},
    Route{"DELETE", "/clusters/{c}", users, delete_cluster},
    Route{"GET", "/clusters/{c}/hosts", users_and_hosts, list_hosts_of_cluster},
    Route{"POST", "/clusters/{c}/actions/install", users, install_cluster},
    Route{"POST", "/clusters/{c}/actions/cancel", users, cancel_cluster},
    Route{"POST", "/clusters/{c}/actions/reset", users, reset_cluster},
    Route{"POST", "/clusters/{c}/actions/allow-add-hosts", users, add_hosts_to_cluster},
    Route{"POST", "/clusters/{c}/actions/allow-add-workers", users, add_hosts_to_cluster},
    Route{"POST", "/clusters/{c}/actions/complete-installation", controllers, complete_installation},
    Route{"PUT", "/clusters/{c}/progress", controllers, put_cluster_progress},
    Route{"GET", "/clusters/{c}/gates", users, get_gates},
    Route{"GET", "/clusters/{c}/install-config", users, get_install_config},
    Route{"PATCH", "/clusters/{c}/install-config", users, update_install_config},
    Route{"GET", "/clusters/{c}/ignored-validations", users, get_ignored_validations},
    Route{"PUT", "/clusters/{c}/ignored-validations", users, put_ignored_validations},
    Route{"GET", "/clusters/{c}/ui-settings", users, get_ui_settings},
    Route{"PUT", "/clusters/{c}/ui-settings", users, put_ui_settings},
    Route{"GET", "/clusters/{c}/manifests", users, list_manifests},
    Route{"POST", "/clusters/{c}/manifests", users, create_manifest},
    Route{"PATCH", "/clusters/{c}/manifests", users, update_manifest},
    Route{"DELETE", "/clusters/{c}/manifests", users, delete_manifest},
    Route{"GET", "/clusters/{c}/manifests/files", users, get_manifest},
    Route{"GET", "/clusters/{c}/preflight-requirements", users, get_hardware_requirements},
    Route{"GET", "/clusters/{c}/supported-platforms", users, get_platforms},
    Route{"GET", "/clusters/{c}/downloads/files", all_of_files, get_cluster_file},
    Route{"GET", "/clusters/{c}/downloads/files-presigned", users, get_cluster_file_url},
    Route{"GET", "/clusters/{c}/downloads/credentials", users_and_files, get_credential_file},
    Route{"GET", "/clusters/{c}/downloads/credentials-presigned", users, get_credential_file_url},
    Route{"GET", "/clusters/{c}/credentials", users, get_credentials},
    Route{"GET", "/clusters/{c}/logs", users, get_logs},
    Route{"POST", "/clusters/{c}/logs", hosts_and_controllers, post_logs},
    Route{"PUT", "/clusters/{c}/logs-progress", controllers, put_cluster_logs_progress},
    Route{"GET", "/clusters/{c}/monitored-operators", users_and_hosts, get_operators},
    Route{"PUT", "/clusters/{c}/monitored-operators", controllers, put_operators},
    Route{"POST", "/clusters/{c}/uploads/ingress-cert", controllers, post_ingress_certificate},

    Route{"POST", "/infra-envs", administrators, create_infra_env},
    Route{"GET", "/infra-envs", users, list_infra_envs},
    Route{"GET", "/infra-envs/{i}", users, get_infra_env},
    Route{"PATCH", "/infra-envs/{i}", users, update_infra_env},
    Route{"DELETE", "/infra-envs/{i}", users, delete_infra_env},
    Route{"GET", "/infra-envs/{i}/downloads/files", users_and_images, get_infra_env_file},
    Route{"GET", "/infra-envs/{i}/downloads/files-presigned", users, get_presigned_url},
    Route{"GET", "/infra-envs/{i}/downloads/image-url", users, get_image_url},
    Route{"POST", "/infra-envs/{i}/regenerate-signing-key", users, regenerate_signing_key},

    Route{"POST", "/infra-envs/{i}/hosts", agents, register_host},
    Route{"GET", "/infra-envs/{i}/hosts", users, list_hosts},
    Route{"GET", "/infra-envs/{i}/hosts/{h}", users_and_hosts, get_host},
    Route{"PATCH", "/infra-envs/{i}/hosts/{h}", users, update_host},
    Route{"DELETE", "/infra-envs/{i}/hosts/{h}", users, delete_host},
    Route{"POST", "/infra-envs/{i}/hosts/{h}/actions/bind", users, bind_host},
    Route{"POST", "/infra-envs/{i}/hosts/{h}/actions/unbind", users, unbind_host},
    Route{"POST", "/infra-envs/{i}/hosts/{h}/actions/install", users, install_host},
    Route{"POST", "/infra-envs/{i}/hosts/{h}/actions/reset", users, reset_host},
    Route{"PATCH", "/infra-envs/{i}/hosts/{h}/actions/reset-validation/{n}", users, reset_host_validation},
    Route{"PATCH", "/infra-envs/{i}/hosts/{h}/installer-args", users, update_installer_args},
    Route{"GET", "/infra-envs/{i}/hosts/{h}/ignition", users, get_host_ignition},
    Route{"PATCH", "/infra-envs/{i}/hosts/{h}/ignition", users, update_host_ignition},
    Route{"GET", "/infra-envs/{i}/hosts/{h}/instructions", hosts, get_instructions},
    Route{"POST", "/infra-envs/{i}/hosts/{h}/instructions", hosts, post_reply},
    Route{"PUT", "/infra-envs/{i}/hosts/{h}/progress", hosts_and_controllers, put_progress},
    Route{"PUT", "/infra-envs/{i}/hosts/{h}/logs-progress", hosts_and_controllers, put_logs_progress},
    Route{"GET", "/infra-envs/{i}/hosts/{h}/downloads/ignition", hosts, get_final_ignition},
    Route{"GET", "/infra-env/{i}/hosts/{h}/downloads/ignition", hosts, get_final_ignition},

    Route{"GET", "/events", users, list_events},
    Route{"GET", "/events/stream", users, stream_events},
    Route{"GET", "/component-versions", everyone, get_component_versions},
    Route{"GET", "/openshift-versions", everyone, get_openshift_versions},
    Route{"GET", "/release-sources", everyone, get_empty_list},
    Route{"GET", "/domains", everyone, get_empty_list},
    Route{"GET", "/supported-operators", everyone, get_empty_list},
    Route{"GET", "/operators/bundles", everyone, get_empty_list},
    Route{"POST", "/tokens", administrators, create_token},
    Route{"GET", "/tokens", administrators, list_tokens},
    Route{"DELETE", "/tokens/{n}", administrators, delete_token},
};

// A token of an image is in the URL, because firmware and management controllers send no headers.
constexpr std::array of_images = {
    Route{"GET", "/images/{i}", images, get_image},
    Route{"GET", "/images/{i}/pxe-initrd", images, get_pxe_initrd},
    Route{"GET", "/byid/{i}/{v}/x86_64/{n}", images, get_image_by_path},
    Route{"GET", "/bytoken/{t}/{v}/x86_64/{n}", images, get_image_by_path},
    Route{"GET", "/boot-artifacts/{n}", everyone, get_boot_artifact},
};

}  // namespace

std::span<const Route> routes() { return all; }
std::span<const Route> image_routes() { return of_images; }

}  // namespace slipway::service
