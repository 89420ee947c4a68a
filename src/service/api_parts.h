// What the files of the API share. Private to the folder.
#pragma once

#include "service/access.h"
#include "service/api.h"
#include "service/fields.h"
#include "service/views.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::service {

// A request whose path and access were checked.
struct Call {
  const net::ServerRequest& request;
  Caller caller;
  Target target;                               // of the path; the objects exist
  std::string name{};                          // the last, free part of the path
  std::string token{};                         // of an image or a file, from the URL; empty: none
  std::map<std::string, std::string> query{};  // decoded

  std::string operator[](const std::string& key) const {
    const auto found = query.find(key);
    return found == query.end() ? std::string() : found->second;
  }
  std::string key() const { return host_key(target.infra_env, target.host); }
};

using Answer = Result<net::ServerAnswer>;
using Handler = Answer (*)(Api& api, const Call& call);

struct Route {
  std::string_view method;
  std::string_view path;  // "/clusters/{c}/hosts": {c} cluster, {i} discovery environment, {h} host, {n} any name
  Audience audience;
  Handler handler;
};
std::span<const Route> routes();        // below api_prefix
std::span<const Route> image_routes();  // with the whole path; {t} token of an image, {v} any value

// Whether the discovery config of the environment can be made, and fits into an image. errors: invalid
Result<> check_image(const Api& api, const InfraEnvRecord& record);

// Files of a cluster, and those of them that give access to it.
bool is_cluster_file(std::string_view name);
bool is_credential_file(std::string_view name);
Error missing_file(std::string_view name);

// The URL of the image, without a token.
std::string image_url(const Api& api, std::string_view infra_env);

// Files of a discovery environment that are not images.
inline bool is_infra_env_file(std::string_view name) { return name == "discovery.ign" || name == "ipxe-script"; }

net::ServerAnswer json_answer(int status, const Json& body);
net::ServerAnswer empty_answer(int status);
net::ServerAnswer file_answer(std::string content, std::string_view name);

// The records of the path's objects. They may have gone since the check. errors: not_found
Result<std::shared_ptr<const ClusterRecord>> cluster_of(const World& world, const std::string& id);
Result<std::shared_ptr<const InfraEnvRecord>> infra_env_of(const World& world, const std::string& id);
Result<std::shared_ptr<const HostRecord>> host_of(const World& world, const std::string& key);

Answer cluster_answer(Api& api, int status, const std::string& id);
Answer host_answer(Api& api, int status, const std::string& key);

// errors: conflict: the cluster is being installed, or is installed
Result<> check_may_change(const ClusterRecord& record);

EventRecord update_event(const ClusterRecord& record, std::string_view what);

// Runs a command on a copy of the cluster.
template <class Change>
Result<> change_cluster(Api& api, const std::string& id, const Change& change) {
  return api.core.run([&](Edit& edit) -> Result<> {
    ClusterRecord record = *TRY(cluster_of(edit.world(), id));
    TRY(change(edit, record));
    record.updated = edit.now();
    edit.put(std::move(record));
    edit.touch_cluster(id);
    return Ok{};
  });
}

// The body as an object. errors: invalid
Result<JsonObject> body_object(const Call& call);

// Sends a trigger to a host or a cluster. errors: conflict: the state does not allow it
Result<> trigger(Edit& edit, const std::string& key, assist::HostTrigger trigger);
Result<> trigger(Edit& edit, const std::string& id, assist::ClusterTrigger trigger);

// Begins the installation: the suggested roles become final, and a master gets the bootstrap, the one that is marked if there is
// one. errors: conflict: the cluster is not ready
Result<> start_installation(Edit& edit, const std::string& cluster);

// Removes a host with its tokens and logs.
void remove_host(Edit& edit, const std::string& key);

#define SLIPWAY_HANDLER(name) Answer name(Api& api, const Call& call)
// clusters
SLIPWAY_HANDLER(create_cluster);
SLIPWAY_HANDLER(list_clusters);
SLIPWAY_HANDLER(get_cluster);
SLIPWAY_HANDLER(update_cluster);
SLIPWAY_HANDLER(delete_cluster);
SLIPWAY_HANDLER(list_hosts_of_cluster);
SLIPWAY_HANDLER(install_cluster);
SLIPWAY_HANDLER(cancel_cluster);
SLIPWAY_HANDLER(reset_cluster);
SLIPWAY_HANDLER(import_cluster);
SLIPWAY_HANDLER(add_hosts_to_cluster);
SLIPWAY_HANDLER(complete_installation);
SLIPWAY_HANDLER(put_cluster_progress);
SLIPWAY_HANDLER(get_gates);
SLIPWAY_HANDLER(get_install_config);
SLIPWAY_HANDLER(update_install_config);
SLIPWAY_HANDLER(get_ignored_validations);
SLIPWAY_HANDLER(put_ignored_validations);
SLIPWAY_HANDLER(get_ui_settings);
SLIPWAY_HANDLER(put_ui_settings);
SLIPWAY_HANDLER(get_cluster_file);
SLIPWAY_HANDLER(get_credential_file);
SLIPWAY_HANDLER(get_credentials);
SLIPWAY_HANDLER(get_cluster_file_url);
SLIPWAY_HANDLER(get_credential_file_url);
SLIPWAY_HANDLER(list_manifests);
SLIPWAY_HANDLER(get_manifest);
SLIPWAY_HANDLER(create_manifest);
SLIPWAY_HANDLER(update_manifest);
SLIPWAY_HANDLER(delete_manifest);
SLIPWAY_HANDLER(get_logs);
SLIPWAY_HANDLER(post_logs);
SLIPWAY_HANDLER(put_cluster_logs_progress);
SLIPWAY_HANDLER(get_operators);
SLIPWAY_HANDLER(put_operators);
SLIPWAY_HANDLER(post_ingress_certificate);
SLIPWAY_HANDLER(get_default_config);
SLIPWAY_HANDLER(get_hardware_requirements);
SLIPWAY_HANDLER(get_platforms);
// discovery environments
SLIPWAY_HANDLER(create_infra_env);
SLIPWAY_HANDLER(list_infra_envs);
SLIPWAY_HANDLER(get_infra_env);
SLIPWAY_HANDLER(update_infra_env);
SLIPWAY_HANDLER(delete_infra_env);
SLIPWAY_HANDLER(regenerate_signing_key);
// images
SLIPWAY_HANDLER(get_infra_env_file);
SLIPWAY_HANDLER(get_image_url);
SLIPWAY_HANDLER(get_presigned_url);
SLIPWAY_HANDLER(get_image);
SLIPWAY_HANDLER(get_image_by_path);
SLIPWAY_HANDLER(get_pxe_initrd);
SLIPWAY_HANDLER(get_boot_artifact);
// hosts, for users
SLIPWAY_HANDLER(list_hosts);
SLIPWAY_HANDLER(get_host);
SLIPWAY_HANDLER(update_host);
SLIPWAY_HANDLER(delete_host);
SLIPWAY_HANDLER(bind_host);
SLIPWAY_HANDLER(unbind_host);
SLIPWAY_HANDLER(install_host);
SLIPWAY_HANDLER(reset_host);
SLIPWAY_HANDLER(reset_host_validation);
SLIPWAY_HANDLER(update_installer_args);
SLIPWAY_HANDLER(get_host_ignition);
SLIPWAY_HANDLER(update_host_ignition);
// hosts, for agents
SLIPWAY_HANDLER(register_host);
SLIPWAY_HANDLER(get_instructions);
SLIPWAY_HANDLER(post_reply);
SLIPWAY_HANDLER(put_progress);
SLIPWAY_HANDLER(put_logs_progress);
SLIPWAY_HANDLER(get_final_ignition);
// others
SLIPWAY_HANDLER(list_events);
SLIPWAY_HANDLER(stream_events);
SLIPWAY_HANDLER(get_component_versions);
SLIPWAY_HANDLER(get_openshift_versions);
SLIPWAY_HANDLER(get_empty_list);
SLIPWAY_HANDLER(create_token);
SLIPWAY_HANDLER(list_tokens);
SLIPWAY_HANDLER(delete_token);
#undef SLIPWAY_HANDLER

}  // namespace slipway::service
