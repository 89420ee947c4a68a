#include "components/kube_apiserver/certificates.h"

#include "net/ip.h"

#include <algorithm>

namespace slipway::components::kube_apiserver {

namespace {

using std::chrono::hours;

constexpr Seconds day = hours(24);
constexpr Seconds year = 365 * day;
constexpr Lifetime month{30 * day, 15 * day};
constexpr Lifetime ten_years{10 * year, 8 * year};
// Kubelets get an authority with a file, which a rollout to machines updates one machine after another.
constexpr Seconds machine_update = hours(4);

constexpr std::string_view component = "kube-apiserver";

Signer signer(std::string_view name, std::string_view bundle_space, std::string_view bundle, Lifetime lifetime,
              std::string_view description, Seconds spread = {}) {
  return {object_name(operator_space, name),
          object_name(bundle_space, bundle),
          std::string(component),
          std::string(description),
          lifetime,
          spread};
}

Leaf client(std::string_view space, std::string_view name, std::string_view signer, net::SubjectName subject, Lifetime lifetime,
            std::string_view description) {
  return {.secret = object_name(space, name),
          .signer = object_name(operator_space, signer),
          .subject = std::move(subject),
          .is_client = true,
          .component = std::string(component),
          .description = std::string(description),
          .lifetime = lifetime};
}

Leaf server(std::string_view name, std::string_view signer, std::vector<std::string> names, std::vector<std::string> addresses,
            Lifetime lifetime, std::string_view description) {
  std::string first = names.empty() ? addresses.front() : names.front();
  return {.secret = object_name(target_space, name),
          .signer = object_name(operator_space, signer),
          .subject = {std::move(first)},
          .is_server = true,
          .dns_names = std::move(names),
          .ip_addresses = std::move(addresses),
          .component = std::string(component),
          .description = std::string(description),
          .lifetime = lifetime};
}

// The host of a load balancer may be a name or an IP address.
Leaf balanced(std::string_view name, const std::string& host, std::string_view description) {
  const bool is_address = net::is_ip(host);
  return server(name, "loadbalancer-serving-signer", is_address ? std::vector<std::string>{} : std::vector{host},
                is_address ? std::vector{host} : std::vector<std::string>{}, month, description);
}

std::vector<std::string> service_names() {
  std::vector<std::string> names;
  for (std::string_view service : {"kubernetes", "openshift"}) {
    for (std::string_view domain : {"", ".default", ".default.svc", ".default.svc.cluster.local"}) {
      names.push_back(fmt::format("{}{}", service, domain));
    }
  }
  return names;
}

}  // namespace

std::vector<Signer> client_signers() {
  return {
      signer("aggregator-client-signer", managed_space, "kube-apiserver-aggregator-client-ca", month,
             "Authority of the aggregation layer's client"),
      signer("kube-control-plane-signer", operator_space, "kube-control-plane-signer-ca", {60 * day, 30 * day},
             "Authority of the clients of the control plane"),
  };
}

std::vector<Signer> lasting_signers() {
  return {
      signer("kube-apiserver-to-kubelet-signer", operator_space, "kube-apiserver-to-kubelet-client-ca", {year, 292 * day},
             "Authority of the API server as a client of kubelets", machine_update),
      signer("localhost-serving-signer", operator_space, "localhost-serving-ca", ten_years,
             "Authority of the API server on localhost"),
      signer("service-network-serving-signer", operator_space, "service-network-serving-ca", ten_years,
             "Authority of the API server in the service network"),
      signer("loadbalancer-serving-signer", operator_space, "loadbalancer-serving-ca", ten_years,
             "Authority of the API server behind the load balancers"),
      signer("node-system-admin-signer", operator_space, "node-system-admin-ca", {3 * year, 876 * day},
             "Authority of administrators on machines of the control plane"),
  };
}

std::vector<Signer> recovery_signers() {
  return {signer("localhost-recovery-serving-signer", operator_space, "localhost-recovery-serving-ca", ten_years,
                 "Authority of the API server for repairs on its own machine")};
}

std::vector<Leaf> leaves(const ServerNames& names) {
  constexpr std::string_view of_control_plane = "kube-control-plane-signer";
  return {
      client(target_space, "aggregator-client", "aggregator-client-signer", {"system:openshift-aggregator"}, month,
             "The API server in front of aggregated ones"),
      client(target_space, "kubelet-client", "kube-apiserver-to-kubelet-signer", {"system:kube-apiserver", {"kube-master"}},
             month, "The API server as a client of kubelets"),
      client(managed_space, "metrics-server-client-cert-key", "kube-apiserver-to-kubelet-signer",
             {"system:openshift-metrics-server"}, month, "metrics-server as a client of kubelets"),
      client(managed_space, "kube-controller-manager-client-cert-key", of_control_plane, {"system:kube-controller-manager"},
             month, "The controller manager"),
      client(managed_space, "kube-scheduler-client-cert-key", of_control_plane, {"system:kube-scheduler"}, month,
             "The scheduler"),
      client(target_space, "control-plane-node-admin-client-cert-key", of_control_plane,
             {"system:control-plane-node-admin", {"system:masters"}}, month, "Programs on machines of the control plane"),
      client(target_space, "check-endpoints-client-cert-key", of_control_plane,
             {"system:serviceaccount:openshift-kube-apiserver:check-endpoints"}, month, "Checks of the API servers' addresses"),
      client(operator_space, "node-system-admin-client", "node-system-admin-signer", {"system:admin", {"system:masters"}},
             {2 * year, 30 * day}, "Administrators on machines of the control plane"),
      server("localhost-serving-cert-certkey", "localhost-serving-signer", {"localhost"}, {"127.0.0.1", "::1"}, month,
             "The API server on localhost"),
      server("service-network-serving-certkey", "service-network-serving-signer", service_names(), {names.service_address}, month,
             "The API server in the service network"),
      balanced("external-loadbalancer-serving-certkey", names.load_balancer, "The API server behind the load balancer"),
      balanced("internal-loadbalancer-serving-certkey", names.internal_load_balancer,
               "The API server behind the internal load balancer"),
      server("localhost-recovery-serving-certkey", "localhost-recovery-serving-signer", {"localhost-recovery"}, {}, ten_years,
             "The API server for repairs on its own machine"),
  };
}

Result<Plan> plan_certificates(const ServerNames& names, const Lifetimes& lifetimes, const Snapshot& seen, WallTime now) {
  struct Group {
    std::vector<Signer> signers;
    Lifetimes lifetimes;
  };
  const Group groups[] = {{client_signers(), lifetimes}, {lasting_signers(), {.leaf = lifetimes.leaf}}, {recovery_signers(), {}}};
  Plan plan;
  for (const Group& group : groups) {
    std::vector<Leaf> signed_here = leaves(names);
    std::erase_if(signed_here, [&](const Leaf& leaf) {
      return std::ranges::none_of(group.signers, [&](const Signer& signer) { return signer.secret.name == leaf.signer.name; });
    });
    plan.add(TRY(plan_rotation(group.signers, signed_here, group.lifetimes, seen, now)));
  }
  return plan;
}

}  // namespace slipway::components::kube_apiserver
