#include "components/kube_apiserver/operator.h"

#include "base/number.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"
#include "components/kube_apiserver/certificates.h"
#include "components/kube_apiserver/render.h"
#include "components/kube_apiserver/restart_with_etcd.h"
#include "components/render/document.h"
#include "components/static_pod/target_inputs.h"
#include "net/url.h"

#include <algorithm>
#include <array>

namespace slipway::components::kube_apiserver {

namespace {

using kube::types::config_maps;
using kube::types::secrets;

constexpr std::string_view bundle_key = "ca-bundle.crt";
constexpr std::string_view next_key_name = "next-bound-service-account-signing-key";
constexpr std::string_view key_name = "bound-service-account-signing-key";
constexpr std::string_view public_keys_name = "bound-sa-token-signing-certs";

// The server reads certificates, their keys and authorities again while it runs, so they are not parts of revisions. It reads the
// keys of tokens, its config and the authorities of etcd only once.
Operand operand() {
  using Kind = Part::Kind;
  return {.name = "kube-apiserver",
          .settings = kube::types::kube_apiservers,
          .operator_space = std::string(operator_space),
          .space = std::string(target_space),
          .pod = "kube-apiserver",
          .revisioned = {{Kind::config_map, "kube-apiserver-pod"},
                         {Kind::config_map, "config"},
                         {Kind::config_map, "bound-sa-token-signing-certs"},
                         {Kind::config_map, "etcd-serving-ca"},
                         {Kind::config_map, "kube-apiserver-audit-policies"},
                         {Kind::config_map, "sa-token-signing-certs"}},
          .unversioned = {{Kind::config_map, "aggregator-client-ca"},
                          {Kind::config_map, "client-ca"},
                          {Kind::config_map, "control-plane-node-kubeconfig"},
                          {Kind::config_map, "kube-apiserver-cert-syncer-kubeconfig"},
                          {Kind::config_map, "kube-apiserver-server-ca"},
                          {Kind::config_map, "kubelet-serving-ca"},
                          {Kind::secret, "aggregator-client"},
                          {Kind::secret, "bound-service-account-signing-key"},
                          {Kind::secret, "control-plane-node-admin-client-cert-key"},
                          {Kind::secret, "etcd-client"},
                          {Kind::secret, "external-loadbalancer-serving-certkey"},
                          {Kind::secret, "internal-loadbalancer-serving-certkey"},
                          {Kind::secret, "kubelet-client"},
                          {Kind::secret, "localhost-recovery-serving-certkey"},
                          {Kind::secret, "localhost-serving-cert-certkey"},
                          {Kind::secret, "service-network-serving-certkey"},
                          {Kind::secret, "localhost-recovery-client-token", true}}};
}

std::vector<Watched> watched() {
  return {{kube::types::infrastructures},
          {kube::types::networks},
          {kube::types::feature_gates},
          {kube::types::authentications},
          {kube::types::api_servers},
          {kube::types::etcds, "", {.fields = "metadata.name=cluster"}},
          {config_maps, std::string(config_space)},
          {secrets, std::string(config_space), {.fields = "metadata.name=etcd-client"}},
          {config_maps, std::string(managed_space)},
          {secrets, std::string(managed_space)}};
}

// The host of a URL in the Infrastructure; empty when it is missing, with a line in target.missing.
std::string host_of(std::string_view field, const Snapshot& seen, Target& target) {
  const std::string text = infrastructure_text(field, seen, target);
  if (text.empty()) return {};
  const Result<net::Url> url = net::parse_url(text);
  if (url.ok()) return url->host;
  target.missing.push_back(fmt::format("Infrastructure cluster: status.{}: {}", field, url.error().message()));
  return {};
}

// Facts about the cluster for the config and the certificates.
struct Facts {
  ServerNames names;
  RenderInput input;
};

std::optional<Facts> find_facts(const OperatorVariables& variables, const Snapshot& seen, Target& target) {
  Facts facts;
  facts.names.load_balancer = host_of("apiServerURL", seen, target);
  facts.names.internal_load_balancer = host_of("apiServerInternalURI", seen, target);
  const std::optional<FeatureGates> gates = find_gates(variables.version, seen, target);
  const Json* network = find_cluster_object(kube::types::networks, seen, target);
  const Json* infrastructure = find_cluster_object(kube::types::infrastructures, seen, target);
  if (network == nullptr || infrastructure == nullptr || !gates) return {};
  Findings findings;
  facts.input.network = parse_network(*network, "Network cluster", findings);
  facts.input.infrastructure = parse_infrastructure(*infrastructure, "Infrastructure cluster", findings);
  facts.input.gates = *gates;
  facts.input.etcd_urls = {"https://localhost:2379"};
  if (facts.input.network.service.empty()) {
    findings.error({"Network cluster"}, "spec.serviceNetwork", "missing");
  } else if (const Result<net::IpAddress> first = facts.input.network.service.front().host(1); first.ok()) {
    facts.names.service_address = to_string(first.value());
  } else {
    findings.error({"Network cluster"}, "spec.serviceNetwork", "{}", first.error().message());
  }
  if (const Json* object = seen.find(kube::types::authentications, "", "cluster")) {
    const std::string_view issuer = find_string(*object, {"spec", "serviceAccountIssuer"}).value_or("");
    if (!issuer.empty()) facts.input.issuer = issuer;
  }
  add_missing(findings, target);
  const bool is_whole = !facts.names.load_balancer.empty() && !facts.names.internal_load_balancer.empty();
  return is_whole && !findings.has_errors() ? std::optional(std::move(facts)) : std::nullopt;
}

// Also writes the audit policy to a file of its own, where administrators expect it.
Result<> plan_config(const Facts& facts, const Json& settings, Target& target) {
  Json config = TRY(make_config(facts.input));
  const Json* policy = find(config, {"auditConfig", "policyConfiguration"});
  if (policy != nullptr) put_text(target_space, "kube-apiserver-audit-policies", "policy.yaml", emit_yaml(*policy), target);
  const Json of_masters = TRY(
      fill_document("kube_apiserver/config-masters.yaml",
                    {{"LOAD_BALANCER", quoted(facts.names.load_balancer)},
                     {"INTERNAL_LOAD_BALANCER", quoted(facts.names.internal_load_balancer)},
                     {"KEYS_URL", quoted(fmt::format("https://{}:6443/openid/v1/jwks", facts.names.internal_load_balancer))}}));
  config = with_overrides(merge_layers(std::move(config), of_masters), settings);
  put_text(target_space, "config", "config.yaml", emit_yaml(sorted_keys(config)), target);
  return Ok{};
}

Result<> plan_pod(const OperatorVariables& variables, const Facts& facts, Target& target) {
  const ApiServerPace pace = TRY(api_server_pace(facts.input.infrastructure, false));
  const TemplateValues values{{"IMAGE", quoted(variables.image)}, {"GRACE_SECONDS", std::to_string(pace.grace)}};
  const TemplateValues of_recovery{{"IMAGE", quoted(variables.image)}, {"VERSION", quoted(variables.version)}};
  std::string pod = TRY(fill_text("kube_apiserver/static-pod.yaml", values));
  std::string recovery = TRY(fill_text("kube_apiserver/recovery-pod.yaml", of_recovery));
  target.plan.desired_objects.push_back(
      {config_maps, config_map(object_name(target_space, "kube-apiserver-pod"),
                               {{"pod.yaml", std::move(pod)}, {"recovery-pod.yaml", std::move(recovery)}})});
  return Ok{};
}

// True when the message is not empty.
Condition degraded(std::string_view what, std::string_view reason, const std::string& message) {
  const bool is_true = !message.empty();
  return {fmt::format("{}Degraded", what), is_true, is_true ? std::string(reason) : "AsExpected", message};
}

// A source of a combined bundle, and which component creates it.
struct Source {
  ObjectName name;
  std::string_view maker;
};

// Plans a bundle that combines several bundles; returns the problem. It is not written while a source is missing, because clients
// of the missing authority would not be trusted.
std::string plan_bundle(const std::vector<Source>& sources, std::string_view name, const Snapshot& seen, WallTime now,
                        Target& target) {
  std::vector<std::string> pems;
  for (const Source& source : sources) {
    std::optional<std::string> pem = data_of(seen.find(config_maps, source.name.space, source.name.name), bundle_key);
    if (pem) {
      pems.push_back(std::move(*pem));
    } else {
      target.missing.push_back(fmt::format("ConfigMap {}/{} with {}, which {} creates", source.name.space, source.name.name,
                                           bundle_key, source.maker));
    }
  }
  if (pems.size() != sources.size()) return {};
  Result<std::string> joined = join_bundles(pems, now);
  if (!joined.ok()) return fmt::format("{}/{}: {}", target_space, name, joined.error().message());
  put_text(target_space, name, bundle_key, std::move(joined).value(), target);
  return {};
}

void plan_bundles(const Snapshot& seen, WallTime now, Target& target) {
  constexpr std::string_view installer = "the installer", self = "this operator";
  std::vector<Source> clients = {{object_name(config_space, "admin-kubeconfig-client-ca"), installer},
                                 {object_name(managed_space, "csr-controller-ca"), "the kube-controller-manager operator"},
                                 {object_name(operator_space, "kube-apiserver-to-kubelet-client-ca"), self},
                                 {object_name(operator_space, "kube-control-plane-signer-ca"), self},
                                 {object_name(managed_space, "kubelet-bootstrap-kubeconfig"), installer},
                                 {object_name(operator_space, "node-system-admin-ca"), self}};
  if (const Json* object = seen.find(kube::types::api_servers, "", "cluster")) {
    const std::string_view own = find_string(*object, {"spec", "clientCA", "name"}).value_or("");
    if (!own.empty()) clients.push_back({object_name(config_space, own), "the administrator, as set in APIServer cluster,"});
  }
  const std::string wrong_clients = plan_bundle(clients, "client-ca", seen, now, target);
  std::vector<Source> servers;
  for (std::string_view name :
       {"loadbalancer-serving-ca", "localhost-serving-ca", "service-network-serving-ca", "localhost-recovery-serving-ca"}) {
    servers.push_back({object_name(operator_space, name), self});
  }
  const std::string wrong_servers = plan_bundle(servers, "kube-apiserver-server-ca", seen, now, target);
  target.conditions.push_back(
      degraded("CertificateBundles", "CannotRead", wrong_clients.empty() ? wrong_servers : wrong_clients));
}

void plan_copies(const Snapshot& seen, Target& target) {
  using Kind = Part::Kind;
  struct Row {
    Kind kind;
    std::string_view from_space, from, to_space, to;
    std::string_view maker;  // empty: this operator creates it, and reports it elsewhere when it is missing
  };
  static constexpr std::array rows = {
      Row{Kind::config_map, config_space, "etcd-serving-ca", target_space, "etcd-serving-ca", "the etcd operator"},
      Row{Kind::secret, config_space, "etcd-client", target_space, "etcd-client", "the etcd operator"},
      Row{Kind::config_map, managed_space, "sa-token-signing-certs", target_space, "sa-token-signing-certs", "the installer"},
      Row{Kind::config_map, managed_space, "kube-apiserver-aggregator-client-ca", target_space, "aggregator-client-ca",
          "this operator"},
      Row{Kind::config_map, managed_space, "csr-controller-ca", target_space, "kubelet-serving-ca",
          "the kube-controller-manager operator"},
      Row{Kind::config_map, target_space, "client-ca", managed_space, "kube-apiserver-client-ca", ""},
      Row{Kind::config_map, target_space, "kubelet-serving-ca", managed_space, "kubelet-serving-ca", ""},
      Row{Kind::config_map, target_space, "kube-apiserver-server-ca", managed_space, "kube-apiserver-server-ca", ""},
      Row{Kind::config_map, target_space, public_keys_name, managed_space, public_keys_name, ""},
  };
  for (const Row& row : rows) {
    copy_object(row.kind, object_name(row.from_space, row.from), object_name(row.to_space, row.to), row.maker, seen, target);
  }
}

// The number in a name: 7 for "service-account-007.pub"; 0 for other names.
int number_of(std::string_view name) {
  constexpr std::string_view prefix = "service-account-";
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  return take_number<int>(name).value_or(0);
}

// Whether every node runs a revision that contains this public key.
bool is_everywhere(const std::string& public_key, const Json& settings, const Snapshot& seen) {
  const std::vector<NodeStatus> nodes = parse_node_statuses(settings);
  return !nodes.empty() && std::ranges::all_of(nodes, [&](const NodeStatus& node) {
    const Json* copy = seen.find(config_maps, target_space, fmt::format("{}-{}", public_keys_name, node.current));
    if (copy == nullptr) return false;
    const JsonObject& data = find_object(*copy, {"data"});
    return std::any_of(data.begin(), data.end(), [&](const auto& entry) { return entry.value() == Json(public_key); });
  });
}

// The key that signs tokens of service accounts. A new key in the Secret next-... is used only after every node trusts it; the
// first
// key is used at once. To get a new key, delete that Secret. Public keys are kept, because tokens may be old.
Result<> plan_bound_key(const Snapshot& seen, const Json& settings, Target& target) {
  const Json* next = seen.find(secrets, operator_space, next_key_name);
  const std::optional<std::string> key = data_of(next, "service-account.key"), pem = data_of(next, "service-account.pub");
  if (!key || !pem) {
    const Secret made = TRY(net::make_key());
    const std::string public_half = TRY(net::public_key(made));
    target.plan.desired_objects.push_back(
        {secrets, secret(object_name(operator_space, next_key_name), "Opaque",
                         {{"service-account.key", made.reveal()}, {"service-account.pub", public_half}})});
    target.missing.push_back(fmt::format("Secret {}/{}, which this operator creates", operator_space, next_key_name));
    return Ok{};
  }
  const Json* known = seen.find(config_maps, target_space, public_keys_name);
  Texts keys;
  bool is_known = false;
  int last = 0;
  for (const auto& [name, value] : known == nullptr ? JsonObject() : find_object(*known, {"data"})) {
    if (!value.is_string()) continue;
    keys.emplace_back(name, std::string(std::string_view(value.get_string())));
    is_known = is_known || keys.back().second == *pem;
    last = std::max(last, number_of(name));
  }
  if (!is_known) keys.emplace_back(fmt::format("service-account-{:03}.pub", last + 1), *pem);
  target.plan.desired_objects.push_back({config_maps, config_map(object_name(target_space, public_keys_name), keys)});

  const std::optional<std::string> used = data_of(seen.find(secrets, target_space, key_name), "service-account.key");
  if (used && used != key && !is_everywhere(*pem, settings, seen)) return Ok{};
  target.plan.desired_objects.push_back({secrets, secret(object_name(target_space, key_name), "Opaque",
                                                         {{"service-account.key", *key}, {"service-account.pub", *pem}})});
  return Ok{};
}

Result<Target> plan_target(const OperatorVariables& variables, const Snapshot& seen, const Json& settings, WallTime now) {
  Target target;
  const std::optional<Facts> facts = find_facts(variables, seen, target);
  if (facts) {
    const Lifetimes lifetimes = lifetimes_of(seen, target.conditions);
    target.plan.add(TRY(plan_certificates(facts->names, lifetimes, seen, now)));
    TRY(plan_config(*facts, settings, target));
    TRY(plan_pod(variables, *facts, target));
  }
  plan_bundles(seen, now, target);
  plan_copies(seen, target);
  TRY(plan_bound_key(seen, settings, target));
  put_text(target_space, "control-plane-node-kubeconfig", "kubeconfig",
           TRY(fill_text("kube_apiserver/kubeconfigs/control-plane-node.yaml", {})), target);
  put_text(target_space, "kube-apiserver-cert-syncer-kubeconfig", "kubeconfig",
           TRY(fill_text("kube_apiserver/kubeconfigs/cert-syncer.yaml", {})), target);
  // Without its certificates a revision could not start.
  const std::vector<Part> parts = operand().unversioned;
  for (const Part& part : parts) {
    if (part.is_optional || seen.find(part.type(), target_space, part.name) != nullptr) continue;
    target.missing.push_back(fmt::format("{} {}/{}", part.type().kind, target_space, part.name));
  }
  return target;
}

}  // namespace

StaticPodOperator make_operator(const OperatorVariables& variables) {
  return {.operand = operand(),
          .watched = watched(),
          .target = [variables](const Snapshot& seen, const Json& settings, WallTime now) {
            return plan_target(variables, seen, settings, now);
          },
          .rollout_guard = [version = variables.version](const Snapshot& seen, const std::string& node, WallTime now) {
            return wait_for_etcd(seen, node, version, now);
          }};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_static_pod_operator(environment, arguments, "cluster-kube-apiserver-operator",
                                 [](const Environment&, const OperatorVariables& variables) -> Result<StaticPodOperator> {
                                   return make_operator(variables);
                                 });
}

}  // namespace slipway::components::kube_apiserver
