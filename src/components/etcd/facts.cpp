#include "components/etcd/facts.h"

#include "base/number.h"
#include "components/controller/bootstrap_complete.h"
#include "components/controller/certificate_rotation.h"
#include "components/controller/conditions.h"
#include "components/controller/masters.h"
#include "components/controller/operand.h"

#include <algorithm>

namespace slipway::components::etcd {

namespace {

const kube::ResourceType facts_type{std::string(kube::private_domain), "v1", "etcdclusters", "EtcdCluster", false};

std::optional<InstallConfig> find_install_config(const Snapshot& seen) {
  const Json* object = seen.find(kube::types::config_maps, "kube-system", "cluster-config-v1");
  if (!object) return {};
  Findings findings;
  InstallConfig config = parse_install_config(*object, "ConfigMap kube-system/cluster-config-v1", findings);
  return findings.has_errors() ? std::nullopt : std::optional(std::move(config));
}

// A node may report a virtual IP that it currently holds; that is not an address of its member.
bool is_virtual(std::string_view address, const std::optional<InstallConfig>& config) {
  const Result<net::IpAddress> parsed = net::parse_ip(address);
  return !parsed.ok() || (config && std::ranges::find(config->virtual_ips, parsed.value()) != config->virtual_ips.end());
}

std::string internal_address(const Json& node, const std::optional<InstallConfig>& config) {
  for (const Json& entry : find_array(node, {"status", "addresses"})) {
    const std::string_view address = find_string(entry, {"address"}).value_or("");
    if (find_string(entry, {"type"}) == "InternalIP" && !is_virtual(address, config)) return std::string(address);
  }
  return {};
}

ObservedMember parse_observed(const Json& object) {
  return {.member = {.id = parse_number<MemberId>(text_of(object, {"id"})).value_or(0),
                     .name = text_of(object, {"name"}),
                     .peer_urls = texts_of(object, {"peerURLs"}),
                     .client_urls = texts_of(object, {"clientURLs"}),
                     .is_learner = is_true(object, {"isLearner"})},
          .is_healthy = is_true(object, {"isHealthy"}),
          .is_leader = is_true(object, {"isLeader"}),
          .problem = text_of(object, {"problem"}),
          .leaves = is_true(object, {"leaves"})};
}

}  // namespace

MembershipInput Cluster::membership(ObservedMembers members, WallTime now) const {
  std::set<MemberId> gone = left(members);
  return {.members = std::move(members),
          .masters = masters,
          .left = std::move(gone),
          .replicas = install_config ? install_config->control_plane_replicas : 0,
          .is_delayed = is_delayed,
          .is_bootstrap_complete = is_bootstrap_complete,
          .is_managed = is_managed,
          .may_defragment = may_defragment,
          .now = now};
}

std::set<MemberId> Cluster::left(const ObservedMembers& members) const {
  std::set<MemberId> gone;
  if (kube::names_with_role(machines, "master").empty()) return gone;
  for (const ObservedMember& it : members) {
    const std::string host = host_of(it.member);
    const bool is_a_masters = std::ranges::find(masters, host, &Master::address) != masters.end();
    if (is_a_masters || it.member.name == bootstrap_name || host == bootstrap_address) continue;
    // A member has no name before it has started, and a row may have no addresses: then the Node says whose it is.
    const auto node = addresses.find(host);
    const std::string& name = it.member.name.empty() && node != addresses.end() ? node->second : it.member.name;
    const auto row = std::ranges::find_if(machines, [&](const kube::MachineRow& each) {
      return each.name == name || std::ranges::find(each.addresses, host) != each.addresses.end();
    });
    const bool has_node = nodes.contains(name) || node != addresses.end();
    if (row != machines.end() ? row->role == kube::removed_role : !has_node) gone.insert(it.member.id);
  }
  return gone;
}

Cluster read_cluster(const Snapshot& seen) {
  Cluster cluster;
  cluster.install_config = find_install_config(seen);
  const Json* settings = seen.find(kube::types::etcds, "", "cluster");
  for (const Json* node : find_masters(seen, settings ? *settings : Json(JsonObject())).nodes) {
    std::string address = internal_address(*node, cluster.install_config);
    if (address.empty()) continue;
    const Result<WallTime> since = parse_rfc3339(text_of(*node, {"metadata", "creationTimestamp"}));
    cluster.masters.push_back({std::string(kube::name_of(*node)), std::move(address), since.ok() ? since.value() : WallTime{}});
  }
  for (const Json* node : seen.list(kube::types::nodes)) {
    cluster.nodes.emplace(kube::name_of(*node));
    for (const Json& entry : find_array(*node, {"status", "addresses"}))
      cluster.addresses.emplace(text_of(entry, {"address"}), kube::name_of(*node));
  }
  if (const Json* table = seen.find(kube::types::config_maps, kube::machine_table_space, kube::machine_table_name)) {
    if (Result<kube::MachineTable> rows = kube::parse_machine_table(*table); rows.ok())
      cluster.machines = std::move(rows).value();
  }
  if (const Json* endpoints = seen.find(kube::types::config_maps, space, "etcd-endpoints")) {
    cluster.bootstrap_address = text_of(*endpoints, {"metadata", "annotations", bootstrap_annotation});
  }
  if (const Json* object = seen.find(kube::types::namespaces, "", space)) {
    cluster.is_delayed = find(*object, {"metadata", "annotations", "openshift.io/delayed-bootstrap"}) != nullptr;
  }
  cluster.is_bootstrap_complete = bootstrap_is_complete(seen);
  cluster.may_defragment = seen.find(kube::types::config_maps, operator_space, "etcd-disable-defrag") == nullptr;
  if (settings) {
    cluster.is_managed = components::is_managed(*settings);
  }
  return cluster;
}

std::optional<net::TlsOptions> find_client_tls(const Snapshot& seen) {
  const std::optional<std::string> ca = data_of(seen.find(kube::types::config_maps, space, "etcd-ca-bundle"), "ca-bundle.crt");
  const Json* client = seen.find(kube::types::secrets, space, "etcd-client");
  const std::optional<std::string> pem = data_of(client, "tls.crt");
  std::optional<std::string> key = data_of(client, "tls.key");
  if (!ca || !pem || !key) return {};
  net::TlsOptions tls;
  tls.ca_pem = *ca;
  tls.client_pem = *pem;
  tls.client_key = Secret(std::move(*key));
  return tls;
}

Json facts_object(const Facts& facts) {
  JsonArray members, changes;
  for (const ObservedMember& it : facts.members) {
    members.push_back({{"id", std::to_string(it.member.id)},
                       {"name", it.member.name},
                       {"peerURLs", array_of(it.member.peer_urls)},
                       {"clientURLs", array_of(it.member.client_urls)},
                       {"isLearner", it.member.is_learner},
                       {"isHealthy", it.is_healthy},
                       {"isLeader", it.is_leader},
                       {"problem", it.problem},
                       {"leaves", it.leaves}});
  }
  for (const Change& change : facts.changes) changes.push_back({{"reason", change.reason}, {"message", change.message}});
  return {{"apiVersion", facts_type.api_version()},
          {"kind", facts_type.kind},
          {"metadata", {{"name", "cluster"}}},
          {"members", std::move(members)},
          {"unreadable", facts.unreadable},
          {"refused", facts.refused},
          {"notDefragmented", facts.not_defragmented},
          {"changes", std::move(changes)}};
}

std::optional<Facts> find_facts(const Snapshot& seen) {
  const Json* object = seen.find(facts_type, "", "cluster");
  if (!object) return {};
  Facts facts{.unreadable = text_of(*object, {"unreadable"}),
              .refused = text_of(*object, {"refused"}),
              .not_defragmented = text_of(*object, {"notDefragmented"})};
  for (const Json& member : find_array(*object, {"members"})) facts.members.push_back(parse_observed(member));
  for (const Json& change : find_array(*object, {"changes"})) {
    facts.changes.push_back({text_of(change, {"reason"}), text_of(change, {"message"})});
  }
  return facts;
}

}  // namespace slipway::components::etcd
