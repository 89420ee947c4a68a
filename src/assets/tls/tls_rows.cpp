#include "assets/tls/tls.h"
#include "net/ip.h"

namespace slipway::assets {

namespace {

constexpr Seconds year = std::chrono::hours(24 * 365);

std::vector<std::string> organizational_units(std::string_view name) { return {std::string(name)}; }

CertificateRow signer(std::string_view file, Seconds valid_for, OnMachine on_machine = OnMachine::pair) {
  return {.file = file,
          .subject = {.common_name = std::string(file), .organizational_units = organizational_units("openshift")},
          .valid_for = valid_for,
          .on_machine = on_machine};
}

std::string api(const config::InstallConfig& config) { return "api." + config.cluster_domain(); }
std::string api_int(const config::InstallConfig& config) { return "api-int." + config.cluster_domain(); }

// Pointer configs use the virtual IP if there is one. Some clients look for it in the IP names, others in the DNS names.
Result<Names> machine_config_server_names(const config::InstallConfig& config) {
  const std::vector<std::string> vips = config::api_vips(config);
  Names names{.dns = {api_int(config)}, .ip = vips};
  names.dns.insert(names.dns.end(), vips.begin(), vips.end());
  return names;
}
Result<Names> localhost_names(const config::InstallConfig&) { return Names{{"localhost"}, {"127.0.0.1", "::1"}}; }
Result<Names> load_balancer_names(const config::InstallConfig& config) { return Names{{api(config)}, {}}; }
Result<Names> internal_load_balancer_names(const config::InstallConfig& config) { return Names{{api_int(config)}, {}}; }
Result<Names> service_network_names(const config::InstallConfig& config) {
  Names names;
  for (const std::string service : {"kubernetes", "openshift"}) {
    for (const std::string tail : {"", ".default", ".default.svc", ".default.svc.cluster.local"}) {
      names.dns.push_back(service + tail);
    }
  }
  if (config.networking.service_network.empty()) return error(Code::invalid, "networking.serviceNetwork: missing");
  const net::Cidr network = TRY(net::parse_cidr(config.networking.service_network.front()));
  names.ip.push_back(net::to_string(TRY(network.host(1))));
  return names;
}

net::SubjectName subject(std::string_view name, std::vector<std::string> organizations) {
  return {.common_name = std::string(name), .organizations = std::move(organizations)};
}

std::vector<CertificateRow> make_rows() {
  using enum Usage;
  using enum OnMachine;
  const std::string bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
  const net::SubjectName admin = subject("system:admin", {"system:masters"});
  const net::SubjectName api_server = subject("system:kube-apiserver", {"kube-master"});
  const net::SubjectName proxy = subject("system:kube-apiserver-proxy", {"kube-master"});
  CertificateRow root_ca = signer("root-ca", 10 * year, certificate);
  root_ca.is_root = true;
  return {
      root_ca,
      {"machine-config-server", subject("system:machine-config-server", {}), "root-ca", server, 10 * year, pair, false,
       machine_config_server_names, false, true},
      {"journal-gatewayd", subject("journal-gatewayd", {"OpenShift Bootstrap"}), "root-ca", server_and_client, 10 * year},
      signer("admin-kubeconfig-signer", 10 * year, nothing),
      {"admin-kubeconfig-client", admin, "admin-kubeconfig-signer", server_and_client, 10 * year, nothing},
      signer("kubelet-bootstrap-kubeconfig-signer", 10 * year, nothing),
      {"kubelet-client",
       subject(bootstrapper, {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts"}),
       "kubelet-bootstrap-kubeconfig-signer", client, 10 * year},
      signer("kubelet-signer", short_life),
      signer("kube-control-plane-signer", year),
      {"kube-control-plane-kube-controller-manager-client", admin, "kube-control-plane-signer", client, year},
      {"kube-control-plane-kube-scheduler-client", admin, "kube-control-plane-signer", client, year},
      signer("kube-apiserver-to-kubelet-signer", year),
      {"kube-apiserver-to-kubelet-client", api_server, "kube-apiserver-to-kubelet-signer", client, year},
      signer("kube-apiserver-localhost-signer", 10 * year),
      {"kube-apiserver-localhost-server", api_server, "kube-apiserver-localhost-signer", server, short_life, pair, true,
       localhost_names},
      signer("kube-apiserver-service-network-signer", 10 * year),
      {"kube-apiserver-service-network-server", api_server, "kube-apiserver-service-network-signer", server, short_life, pair,
       true, service_network_names},
      signer("kube-apiserver-lb-signer", 10 * year),
      {"kube-apiserver-lb-server", api_server, "kube-apiserver-lb-signer", server, short_life, pair, true, load_balancer_names},
      {"kube-apiserver-internal-lb-server", api_server, "kube-apiserver-lb-signer", server, short_life, pair, true,
       internal_load_balancer_names},
      signer("aggregator-signer", short_life),
      {"aggregator-client", proxy, "aggregator-signer", client, short_life},
      {.file = "aggregator-ca",
       .subject = {.common_name = "aggregator", .organizational_units = organizational_units("bootkube")},
       .valid_for = short_life},
      {"apiserver-proxy", proxy, "aggregator-ca", client, short_life},
      // In openshift-install this certificate has no names: its code for self-signed certificates drops them.
      {.file = "ironic/tls",
       .subject = {.common_name = "ironic", .organizational_units = organizational_units("openshift")},
       .usage = server,
       .valid_for = short_life,
       .names = machine_config_server_names,
       .platform = "baremetal"},
  };
}

}  // namespace

std::span<const CertificateRow> certificate_rows() {
  static const std::vector<CertificateRow> rows = make_rows();
  return rows;
}

std::span<const BundleRow> bundle_rows() {
  static const std::vector<BundleRow> rows = {
      {"admin-kubeconfig-ca-bundle", {"admin-kubeconfig-signer"}},
      {"aggregator-ca-bundle", {"aggregator-signer"}},
      {"kube-apiserver-to-kubelet-ca-bundle", {"kube-apiserver-to-kubelet-signer"}},
      {"kube-apiserver-localhost-ca-bundle", {"kube-apiserver-localhost-signer"}},
      {"kube-apiserver-service-network-ca-bundle", {"kube-apiserver-service-network-signer"}},
      {"kube-apiserver-lb-ca-bundle", {"kube-apiserver-lb-signer"}},
      {"kube-apiserver-complete-server-ca-bundle",
       {"kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer", "kube-apiserver-lb-signer"}},
      {"kube-apiserver-complete-client-ca-bundle",
       {"admin-kubeconfig-signer", "kubelet-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer",
        "kubelet-bootstrap-kubeconfig-signer"}},
      {"kube-control-plane-ca-bundle",
       {"kube-control-plane-signer", "kube-apiserver-lb-signer", "kube-apiserver-localhost-signer",
        "kube-apiserver-service-network-signer"}},
      {"kubelet-client-ca-bundle", {"kubelet-signer"}},
      {"kubelet-serving-ca-bundle", {"kubelet-signer"}},
      {"kubelet-bootstrap-kubeconfig-ca-bundle", {"kubelet-bootstrap-kubeconfig-signer"}},
  };
  return rows;
}

}  // namespace slipway::assets
