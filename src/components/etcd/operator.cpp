#include "components/etcd/operator.h"

#include "base/flags.h"
#include "base/text.h"
#include "components/controller/certificate_rotation.h"
#include "components/controller/object_parts.h"
#include "components/etcd/backups.h"
#include "components/etcd/certificates.h"
#include "components/etcd/facts.h"
#include "components/etcd/observer.h"
#include "components/program/kube_access.h"
#include "components/render/api_server_pace.h"
#include "components/render/document.h"
#include "components/static_pod/node_state.h"
#include "components/static_pod/target_inputs.h"
#include "kube/conditions.h"

#include <algorithm>
#include <chrono>

namespace slipway::components::etcd {

namespace {

using Kind = Part::Kind;

constexpr std::string_view program = "cluster-etcd-operator";
constexpr std::string_view api_server_space = "openshift-kube-apiserver";
constexpr Milliseconds api_server_limit = std::chrono::minutes(2);
constexpr int member_grace = 25;  // seconds from TERM until a member is killed

// Objects that pods read in addition to their revision must exist before the revision is created.
void expect_fulfilled(DesiredObject desired, std::string_view what, const Snapshot& seen, Target& target) {
  if (!is_fulfilled(desired, seen)) target.missing.push_back(std::string(what));
  target.plan.desired_objects.push_back(std::move(desired));
}

// The installer creates the authorities. Nothing is signed before they exist; otherwise there would be two of each.
bool has_authorities(const Snapshot& seen, Target& target) {
  bool has_all = true;
  for (const Signer& signer : rotated_signers()) {
    for (const auto& [type, name] :
         {std::pair{&kube::types::secrets, signer.secret}, std::pair{&kube::types::config_maps, signer.bundle}}) {
      if (seen.find(*type, name.space, name.name)) continue;
      has_all = false;
      target.missing.push_back(fmt::format("{} {}/{}, which the installer creates", type->kind, name.space, name.name));
    }
  }
  return has_all;
}

// Whether the member of a machine may still run.
bool may_have_member(const kube::MachineRow& row, const std::optional<Facts>& facts) {
  if (!facts || facts->members.empty()) return true;
  return std::ranges::any_of(facts->members, [&](const ObservedMember& it) {
    return it.member.name == row.name || (it.member.name.empty() && it.leaves);
  });
}

// Collects the certificates and keys of all masters in one Secret, under the file names that the pods use. A member of a master
// that leaves, or whose Node was deleted, keeps its files until it is removed: etcd reads them for each connection, and without
// its member the API server of a machine that is on hangs.
void collect_certificates(const Cluster& cluster, const std::vector<Leaf>& servers, const Snapshot& seen, Target& target) {
  JsonObject data;
  bool is_whole = true;
  const std::optional<Facts> facts = find_facts(seen);
  const Json* before = seen.find(kube::types::secrets, space, "etcd-all-certs");
  for (const kube::MachineRow& row : cluster.machines) {
    if (!before || !may_have_member(row, facts)) continue;
    for (const Leaf& leaf : rotated_servers(row.name, "")) {
      for (const std::string_view suffix : {"crt", "key"}) {
        const std::string file = fmt::format("{}.{}", leaf.secret.name, suffix);
        if (const auto text = find_string(*before, {"data", file})) data[file] = *text;
      }
    }
  }
  for (const Leaf& leaf : servers) {
    const Json* pair = seen.find(kube::types::secrets, leaf.secret.space, leaf.secret.name);
    for (const auto& [key, suffix] : {std::pair{"tls.crt", "crt"}, std::pair{"tls.key", "key"}}) {
      const auto text = pair ? find_string(*pair, {"data", key}) : std::nullopt;
      if (text) data[fmt::format("{}.{}", leaf.secret.name, suffix)] = *text;
      is_whole &= text.has_value();
    }
    if (!pair) target.missing.push_back(fmt::format("Secret {}/{}", leaf.secret.space, leaf.secret.name));
  }
  if (!is_whole) return;
  Json object = secret(object_name(space, "etcd-all-certs"), "Opaque", {});
  object.as_object()["data"] = std::move(data);
  expect_fulfilled({kube::types::secrets, std::move(object)}, "Secret openshift-etcd/etcd-all-certs of all masters", seen,
                   target);
}

Result<> add_certificates(const Cluster& cluster, const Snapshot& seen, WallTime now, Target& target) {
  if (!has_authorities(seen, target)) return Ok{};
  // The setting `leaf` does not apply: without etcd there is no API, so no program can renew certificates of etcd that expired
  // while the cluster was off. The setting `etcd` does not apply to signers: members read their authorities only when they start,
  // and a signer with a lifetime of minutes would expire before all members have restarted.
  const Lifetimes lifetimes{.leaf = lifetimes_of(seen, target.conditions).etcd};
  std::vector<Leaf> leaves = rotated_clients(), servers;
  for (const Master& master : cluster.masters) {
    for (Leaf& leaf : rotated_servers(master.node, master.address)) servers.push_back(std::move(leaf));
  }
  leaves.insert(leaves.end(), servers.begin(), servers.end());
  target.plan.add(TRY(plan_rotation(rotated_signers(), leaves, lifetimes, seen, now)));
  collect_certificates(cluster, servers, seen, target);
  // The next machine of this name gets other keys.
  for (const kube::MachineRow& row : cluster.machines) {
    if (row.role != kube::removed_role) continue;
    for (const Leaf& leaf : rotated_servers(row.name, "")) {
      if (const Json* pair = seen.find(kube::types::secrets, leaf.secret.space, leaf.secret.name))
        target.plan.desired_objects.push_back({kube::types::secrets, *pair, DesiredObject::How::remove});
    }
  }

  const auto bundle = [&](std::string_view name) {
    return data_of(seen.find(kube::types::config_maps, space, name), "ca-bundle.crt").value_or("");
  };
  target.plan.desired_objects.push_back(
      {kube::types::config_maps,
       config_map(object_name(space, "etcd-all-bundles"), {{"metrics-ca-bundle.crt", bundle("etcd-metrics-ca-bundle")},
                                                           {"server-ca-bundle.crt", bundle("etcd-ca-bundle")}})});
  return Ok{};
}

bool is_slow(const Json& infrastructure, const Json& settings) {
  if (find_string(settings, {"spec", "controlPlaneHardwareSpeed"}) == "Slower") return true;
  const auto platform = find_string(infrastructure, {"status", "platformStatus", "type"}).value_or("");
  const auto provider = find_string(infrastructure, {"status", "platformStatus", "ibmcloud", "providerType"}).value_or("");
  return platform == "Azure" || (platform == "IBMCloud" && provider == "VPC");
}

std::uint64_t quota_bytes(const Json& settings) {
  const Json* gibibytes = find(settings, {"spec", "backendQuotaGiB"});
  const std::int64_t count = gibibytes && gibibytes->is_int64() ? gibibytes->get_int64() : 8;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(count, 8, 32)) << 30;
}

Result<> add_pod(const OperatorVariables& variables, const Cluster& cluster, const Json& settings, const Snapshot& seen,
                 Target& target) {
  const Json* infrastructure = find_cluster_object(kube::types::infrastructures, seen, target);
  if (!infrastructure || cluster.masters.empty()) return Ok{};
  const InstallConfig& config = *cluster.install_config;
  const bool slow = is_slow(*infrastructure, settings);
  const bool is_v4 = cluster.masters.front().address.find(':') == std::string::npos;
  Findings findings;
  const Infrastructure platform = parse_infrastructure(*infrastructure, "Infrastructure cluster", findings);
  const int of_api_server = TRY(api_server_pace(platform, false)).grace;
  std::string pod = TRY(fill_text("etcd/static-pod.yaml",
                                  {{"IMAGE", quoted(variables.image)},
                                   {"API_SERVER_SECONDS", std::to_string(of_api_server)},
                                   {"MEMBER_SECONDS", std::to_string(member_grace)},
                                   {"GRACE_SECONDS", std::to_string(of_api_server + member_grace + 5)},
                                   {"LISTEN", is_v4 ? "0.0.0.0" : "[::]"},
                                   {"HEARTBEAT_INTERVAL", slow ? "500" : "100"},
                                   {"ELECTION_TIMEOUT", slow ? "2500" : "1000"},
                                   {"QUOTA_BYTES", std::to_string(quota_bytes(settings))},
                                   {"MAX_LEARNERS", std::to_string(config.control_plane_replicas + config.arbiter_replicas)}}));
  target.plan.desired_objects.push_back(
      {kube::types::config_maps, config_map(object_name(space, "etcd-pod"), {{"pod.yaml", std::move(pod)}})});
  return Ok{};
}

Result<> add_addresses(const Cluster& cluster, const Snapshot& seen, Target& target) {
  std::vector<std::string> addresses;
  for (const Master& master : cluster.masters) addresses.push_back(master.address);
  if (!cluster.bootstrap_address.empty()) addresses.insert(addresses.begin(), cluster.bootstrap_address);
  std::vector<std::string> endpoints, gateways;
  for (const std::string& address : addresses) {
    endpoints.push_back("https://" + net::host_and_port(address, client_port));
    gateways.push_back(gateway_url(address));
  }
  std::string text = TRY(fill_text("etcd/etcd.env", {{"ENDPOINTS", join(endpoints, ",")}, {"GATEWAYS", join(gateways, ",")}}));
  expect_fulfilled({kube::types::config_maps, config_map(object_name(space, "etcd-scripts"), {{"etcd.env", std::move(text)}})},
                   "ConfigMap openshift-etcd/etcd-scripts of all masters", seen, target);
  return Ok{};
}

// ConfigMap etcd-endpoints: the voters on masters as data, and the bootstrap machine's member as an annotation while it exists.
void add_endpoints(const ObservedMembers& members, const Cluster& cluster, Target& target) {
  Texts data;
  bool has_bootstrap = false;
  for (const ObservedMember& it : members) {
    const bool is_bootstrap = it.member.name == bootstrap_name;
    has_bootstrap |= is_bootstrap;
    if (is_bootstrap || !it.is_voter() || !it.member.is_started()) continue;
    data.emplace_back(fmt::format("{:x}", it.member.id), host_of(it.member));
  }
  // Until a master votes, the ConfigMap that the bootstrap machine wrote is correct.
  if (data.empty()) return;
  Json object = config_map(object_name(space, "etcd-endpoints"), data);
  if (!has_bootstrap && !cluster.bootstrap_address.empty()) {
    object.at("metadata").as_object()["annotations"] = JsonObject{{bootstrap_annotation, nullptr}};
  }
  target.plan.desired_objects.push_back({kube::types::config_maps, std::move(object)});
}

// ConfigMap etcd-members: the members and their state as the operator sees them, for people and for `slipway replace master`,
// which waits for `leaves`: then the operator works, and the other values are newer than the row that says "removed".
void add_member_list(const ObservedMembers& members, Target& target) {
  JsonArray list;
  for (const ObservedMember& it : members) {
    list.push_back({{"id", fmt::format("{:x}", it.member.id)},
                    {"name", it.member.name},
                    {"address", host_of(it.member)},
                    {"votes", it.is_voter()},
                    {"healthy", it.is_healthy},
                    {"leads", it.is_leader},
                    {"leaves", it.leaves}});
  }
  target.plan.desired_objects.push_back(
      {kube::types::config_maps,
       config_map(object_name(space, "etcd-members"), {{"members", emit_json(list, JsonStyle::compact)}})});
}

void add_members(const Facts& facts, const Cluster& cluster, const Json& settings, WallTime now, Target& target) {
  for (const Change& change : facts.changes) target.plan.notices.push_back({settings, change.reason, change.message});
  if (!facts.members.empty()) {
    add_endpoints(facts.members, cluster, target);
    add_member_list(facts.members, target);
    target.conditions = plan_membership(cluster.membership(facts.members, now)).conditions;
  }
  if (!facts.unreadable.empty()) {
    std::erase_if(target.conditions, [](const Condition& it) { return it.type == "EtcdMembersDegraded"; });
    target.conditions.push_back({"EtcdMembersDegraded", true, "MembersUnknown", facts.unreadable});
  }
  target.conditions.push_back(facts.refused.empty() ? Condition{"ClusterMemberDegraded"}
                                                    : Condition{"ClusterMemberDegraded", true, "ChangeRefused", facts.refused});
  target.conditions.push_back(facts.not_defragmented.empty()
                                  ? Condition{"DefragControllerDegraded"}
                                  : Condition{"DefragControllerDegraded", true, "DefragmentationFailed", facts.not_defragmented});
}

void add_copies(const Snapshot& seen, Target& target) {
  const auto copy = [&](Kind kind, const ObjectName& from, std::string_view to_space, std::string_view to_name) {
    copy_object(kind, from, {std::string(to_space), std::string(to_name)}, "", seen, target);
  };
  copy(Kind::config_map, {"kube-system", "cluster-config-v1"}, space, "cluster-config-v1");
  copy(Kind::config_map, object_name(space, "etcd-ca-bundle"), operator_space, "etcd-ca-bundle");
  copy(Kind::config_map, object_name(space, "etcd-ca-bundle"), "openshift-config", "etcd-ca-bundle");
  copy(Kind::config_map, object_name(space, "etcd-ca-bundle"), "openshift-config", "etcd-serving-ca");
  copy(Kind::secret, object_name(space, "etcd-client"), operator_space, "etcd-client");
  copy(Kind::secret, object_name(space, "etcd-client"), "openshift-config", "etcd-client");
}

const std::vector<Watched> watched = {
    {kube::types::config_maps, "kube-system"},
    {kube::types::config_maps, "openshift-config"},
    {kube::types::secrets, "openshift-config", {.fields = "metadata.name=etcd-client"}},
    {kube::types::namespaces, "", {.fields = fmt::format("metadata.name={}", space)}},
    {kube::types::infrastructures, "", {.fields = "metadata.name=cluster"}},
    {kube::types::kube_apiservers, "", {.fields = "metadata.name=cluster"}},
    {kube::types::pods, std::string(api_server_space), {.labels = "apiserver=true"}},
};

std::vector<Watched> all_watched() {
  std::vector<Watched> all = watched;
  for (Watched& each : watched_for_backups()) all.push_back(std::move(each));
  return all;
}

Operand operand() {
  return {.name = "etcd",
          .settings = kube::types::etcds,
          .operator_space = std::string(operator_space),
          .space = std::string(space),
          .pod = "etcd",
          .revisioned = {{Kind::config_map, "etcd-pod"}, {Kind::config_map, "etcd-all-bundles"}},
          .unversioned = {{Kind::secret, "etcd-all-certs"}, {Kind::config_map, "etcd-scripts"}}};
}

Result<Target> make_target(const OperatorVariables& variables, const Snapshot& seen, const Json& settings, WallTime now) {
  Target target;
  const Cluster cluster = read_cluster(seen);
  if (const std::optional<Facts> facts = find_facts(seen)) add_members(*facts, cluster, settings, now, target);
  add_copies(seen, target);
  add_backups(variables.image, cluster, seen, now, target);
  if (!cluster.install_config) {
    target.missing.emplace_back("ConfigMap kube-system/cluster-config-v1, which the installer creates");
    return target;
  }
  const MembershipInput input = cluster.membership({}, now);
  if (std::optional<std::string> why = why_wait_for_masters(input)) {
    target.missing.push_back(std::move(*why));
    target.plan.replan_at = plan_membership(input).replan_at;
  }
  TRY(add_certificates(cluster, seen, now, target));
  TRY(add_pod(variables, cluster, settings, seen, target));
  TRY(add_addresses(cluster, seen, target));
  return target;
}

// The API server of a master ends before its etcd member (etcd/static-pod.yaml). So the next member waits until the API server of
// the previous one serves again, but not for one that cannot start. It also waits for one that is about to change.
std::optional<Objection> wait_for_api_servers(const Snapshot& seen, const std::string& node, WallTime now) {
  for (const Json* pod : seen.list(kube::types::pods, api_server_space)) {
    if (find_string(*pod, {"spec", "nodeName"}) == node || kube::condition_status(*pod, "Ready") == "True") continue;
    const Json* ready = kube::find_condition(*pod, "Ready");
    const std::optional<WallTime> since = ready ? time_of(*ready, {"lastTransitionTime"}) : std::nullopt;
    const WallTime until = since.value_or(now) + api_server_limit;
    if (now < until) return Objection{fmt::format("pod {} is not Ready", kube::name_of(*pod)), until};
  }
  const Json* settings = seen.find(kube::types::kube_apiservers, "", "cluster");
  for (const NodeStatus& each : settings == nullptr ? std::vector<NodeStatus>() : parse_node_statuses(*settings)) {
    if (each.node == node || each.target <= each.current || each.last_failed == each.target) continue;
    return Objection{fmt::format("the API server of {} changes", each.node)};
  }
  return {};
}

std::optional<Objection> rollout_guard(const Snapshot& seen, const std::string& node, WallTime now) {
  const Cluster cluster = read_cluster(seen);
  const auto master = std::ranges::find(cluster.masters, node, &Master::node);
  const std::optional<Facts> facts = find_facts(seen);
  if (!facts || facts->members.empty()) return Objection{"the members of etcd are not known yet"};
  if (!facts->unreadable.empty()) return Objection{"the members of etcd are not known: " + facts->unreadable};
  if (master == cluster.masters.end()) return {};
  if (std::optional<std::string> why = why_keep_running(facts->members, master->address)) return Objection{*std::move(why)};
  return wait_for_api_servers(seen, node, now);
}

}  // namespace

StaticPodOperator make_operator(const OperatorVariables& variables, net::Http& http) {
  return {.operand = operand(),
          .watched = all_watched(),
          .target = [variables](const Snapshot& seen, const Json& settings,
                                WallTime now) { return make_target(variables, seen, settings, now); },
          .rollout_guard = rollout_guard,
          .observer = [&http](const sys::Context& context, View& view) { return observe(context, http, view); }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_static_pod_operator(environment, arguments, program,
                                 [](const Environment& own, const OperatorVariables& variables) -> Result<StaticPodOperator> {
                                   return make_operator(variables, own.http);
                                 });
}

Result<> run_wait_for_ceo(const Environment& environment, const Arguments& arguments) {
  const Flags flags =
      TRY(parse_flags("cluster-etcd-operator wait-for-ceo", {{.name = "kubeconfig", .required = true}}, arguments));
  kube::Client api(environment.http, TRY(kube_access(environment.files, flags.text("kubeconfig"))));
  const auto missing = [&](const kube::Objects& objects) -> Result<std::optional<std::string>> {
    const std::string_view status = objects.empty() ? "" : kube::condition_status(objects.front(), "EtcdRunningInCluster");
    if (status == "True") return std::optional<std::string>();
    return std::optional(fmt::format("EtcdRunningInCluster is {}", status.empty() ? "not set" : status));
  };
  while (true) {
    Result<> there = kube::wait_until(environment.context, api, "etcd on the masters", std::chrono::minutes(1),
                                      kube::types::etcds, "", {.fields = "metadata.name=cluster"}, missing);
    if (there.ok() || there.error().code() != Code::timeout) return there;
    environment.context.log.info("{}", there.error().message());
  }
}

}  // namespace slipway::components::etcd
