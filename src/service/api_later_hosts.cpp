// Clusters that exist and take more hosts.
#include "base/digest.h"
#include "base/text.h"
#include "ignition/data_url.h"
#include "ignition/parse.h"
#include "service/api_parts.h"
#include "service/cluster_settings.h"

namespace slipway::service {

namespace {

using assist::ClusterStatus;
using assist::ClusterTrigger;

// Where the workers of a cluster that was installed here get their config, and who signs the certificate of that server.
Json endpoint_of(std::string_view worker_config) {
  const Result<ignition::Parsed> parsed = ignition::parse_text(worker_config, "worker.ign");
  if (!parsed.ok()) return nullptr;
  const ignition::Config& config = parsed->config;
  const auto& merge = config.ignition.config.merge;
  const auto& authorities = config.ignition.security.tls.certificate_authorities;
  if (merge.empty() || authorities.empty()) return nullptr;
  const Result<std::string> pem = ignition::decode_data_url(authorities.front().source.value_or(""));
  if (!pem.ok()) return nullptr;
  return {{"url", merge.front().source.value_or("")}, {"ca_certificate", base64_encode(pem.value())}};
}

}  // namespace

Answer import_cluster(Api& api, const Call& call) {
  const JsonObject given = TRY(read_fields(call.request.body, import_fields(), "cluster"));
  for (const char* needed : {"name", "api_vip_dnsname", "openshift_cluster_id"}) {
    if (text_of(given, {needed}).empty()) return error(Code::invalid, "cluster: {}: missing", needed);
  }
  const std::string id = TRY(sys::random_uuid(api.environment.random));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    ClusterRecord record;
    record.settings = {{"api_vip_dns_name", text_of(given, {"api_vip_dnsname"})},
                       {"openshift_cluster_id", text_of(given, {"openshift_cluster_id"})}};
    if (const Json* version = given.if_contains("openshift_version")) record.settings["openshift_version"] = *version;
    add_defaults(record.settings, api.options.openshift_version);
    record.cluster.id = id;
    record.cluster.name = text_of(given, {"name"});
    record.cluster.is_day_two = true;
    record.cluster.status = ClusterStatus::adding_hosts;
    apply_settings(record.cluster, record.settings);
    record.status_info = "The cluster takes more hosts";
    record.created = record.updated = record.status_since = edit.now();
    edit.add(event_of(record, "cluster_registration_succeeded", EventSeverity::info, "imported"));
    edit.put(std::move(record));
    edit.touch_cluster(id);
    return Ok{};
  }));
  return cluster_answer(api, 201, id);
}

Answer add_hosts_to_cluster(Api& api, const Call& call) {
  const std::optional<std::string> worker_config = TRY(api.core.file(call.target.cluster, "worker.ign"));
  const Json endpoint = worker_config ? endpoint_of(*worker_config) : Json(nullptr);
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    TRY(trigger(edit, call.target.cluster, ClusterTrigger::add_hosts));
    ClusterRecord record = *TRY(cluster_of(edit.world(), call.target.cluster));
    record.cluster.is_day_two = true;
    if (!endpoint.is_null()) record.settings["ignition_endpoint"] = endpoint;
    apply_settings(record.cluster, record.settings);
    // The hosts of the cluster are its nodes now; the cluster's own API lists them.
    for (const auto& host : edit.world().hosts_of_cluster(call.target.cluster)) remove_host(edit, host->table_key());
    edit.put(std::move(record));
    return Ok{};
  }));
  return cluster_answer(api, 202, call.target.cluster);
}

}  // namespace slipway::service
