// A small version of /opt/openshift at the start of the render commands of the control plane: TLS folder, kubeconfig, manifests.
#pragma once

#include "base/digest.h"
#include "base/yaml.h"
#include "net/x509.h"
#include "sys/files.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::testing_support {

struct RenderAssets {
  std::string network_type = "Flannel";
  std::string platform = "None";
  std::string topology = "HighlyAvailable";
  std::string install_config_platform = "local: {apiVIPs: [10.97.77.5], ingressVIPs: [10.97.77.7]}";
  std::string install_config_more{};  // lines
  std::string version = "0.1.0";
  int replicas = 3;
  WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
};

namespace render_assets {

// A certificate of the TLS folder. issuer: empty for a self-signed one.
struct Entry {
  std::string_view name;
  std::string_view issuer;
  std::string_view common_name;
  std::string_view organization;
  bool server = false;
  std::vector<std::string> dns_names{};
  std::vector<std::string> ip_addresses{};
};

inline std::vector<Entry> entries() {
  std::vector<Entry> all;
  for (std::string_view signer :
       {"root-ca", "admin-kubeconfig-signer", "kubelet-bootstrap-kubeconfig-signer", "kubelet-signer",
        "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer", "kube-apiserver-localhost-signer",
        "kube-apiserver-service-network-signer", "kube-apiserver-lb-signer", "aggregator-signer", "aggregator-ca"}) {
    all.push_back({signer, "", signer, ""});
  }
  all.push_back({"admin-kubeconfig-client", "admin-kubeconfig-signer", "system:admin", "system:masters"});
  all.push_back(
      {"kube-control-plane-kube-controller-manager-client", "kube-control-plane-signer", "system:admin", "system:masters"});
  all.push_back({"kube-control-plane-kube-scheduler-client", "kube-control-plane-signer", "system:admin", "system:masters"});
  all.push_back({"kube-apiserver-to-kubelet-client", "kube-apiserver-to-kubelet-signer", "system:kube-apiserver", "kube-master"});
  all.push_back({"apiserver-proxy", "aggregator-ca", "system:kube-apiserver-proxy", "kube-master"});
  const auto server = [&](std::string_view name, std::string_view issuer, std::vector<std::string> dns,
                          std::vector<std::string> ips) {
    all.push_back({name, issuer, "system:kube-apiserver", "kube-master", true, std::move(dns), std::move(ips)});
  };
  server("kube-apiserver-localhost-server", "kube-apiserver-localhost-signer", {"localhost"}, {"127.0.0.1", "::1"});
  server("kube-apiserver-service-network-server", "kube-apiserver-service-network-signer",
         {"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}, {"172.30.0.1"});
  server("kube-apiserver-lb-server", "kube-apiserver-lb-signer", {"api.demo.example.com"}, {});
  server("kube-apiserver-internal-lb-server", "kube-apiserver-lb-signer", {"api-int.demo.example.com"}, {});
  return all;
}

inline const std::map<std::string, std::vector<std::string>>& bundles() {
  static const std::map<std::string, std::vector<std::string>> all = {
      {"admin-kubeconfig-ca-bundle", {"admin-kubeconfig-signer"}},
      {"kube-apiserver-localhost-ca-bundle", {"kube-apiserver-localhost-signer"}},
      {"kube-apiserver-complete-server-ca-bundle",
       {"kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer", "kube-apiserver-lb-signer"}},
      {"kube-apiserver-complete-client-ca-bundle",
       {"admin-kubeconfig-signer", "kubelet-signer", "kube-control-plane-signer", "kube-apiserver-to-kubelet-signer",
        "kubelet-bootstrap-kubeconfig-signer"}},
      {"kube-control-plane-ca-bundle", {"kube-control-plane-signer"}},
      {"kubelet-client-ca-bundle", {"kubelet-signer"}},
      {"kubelet-bootstrap-kubeconfig-ca-bundle", {"kubelet-bootstrap-kubeconfig-signer"}}};
  return all;
}

using Certificates = std::map<std::string, net::Certificate, std::less<>>;

// Writes the TLS folder; returns its certificates by name.
inline Result<Certificates> put_tls(sys::Files& files, const std::string& root, WallTime now) {
  Certificates certificates;
  for (const Entry& entry : entries()) {
    net::SubjectName subject{.common_name = std::string(entry.common_name)};
    if (!entry.organization.empty()) subject.organizations = {std::string(entry.organization)};
    const net::CertificateSpec spec{.subject = subject,
                                    .is_ca = entry.issuer.empty(),
                                    .server_auth = entry.server,
                                    .client_auth = !entry.issuer.empty(),
                                    .dns_names = entry.dns_names,
                                    .ip_addresses = entry.ip_addresses,
                                    .valid_from = now - std::chrono::hours(1),
                                    .valid_for = std::chrono::hours(24)};
    certificates[std::string(entry.name)] =
        TRY(net::make_certificate(spec, entry.issuer.empty() ? nullptr : &certificates[std::string(entry.issuer)]));
    const net::Certificate& certificate = certificates[std::string(entry.name)];
    // The machine has these two in bundles only.
    if (entry.name == "admin-kubeconfig-signer" || entry.name == "kubelet-bootstrap-kubeconfig-signer") continue;
    TRY(files.write(fmt::format("{}/tls/{}.crt", root, entry.name), certificate.pem, 0600));
    TRY(files.write(fmt::format("{}/tls/{}.key", root, entry.name), certificate.key.reveal(), 0600));
  }
  for (const auto& [name, members] : bundles()) {
    std::string pem;
    for (const std::string& member : members) pem += certificates[member].pem;
    TRY(files.write(fmt::format("{}/tls/{}.crt", root, name), pem, 0600));
  }
  const Secret account = TRY(net::make_key());
  const std::string account_public = TRY(net::public_key(account));
  TRY(files.write(root + "/tls/service-account.key", account.reveal(), 0600));
  TRY(files.write(root + "/tls/service-account.pub", account_public, 0600));
  return certificates;
}

inline Result<> put_kubeconfig(sys::Files& files, const std::string& root, const Certificates& certificates) {
  const net::Certificate& admin = certificates.at("admin-kubeconfig-client");
  return files.write(
      root + "/auth/kubeconfig-loopback",
      fmt::format("apiVersion: v1\nkind: Config\ncurrent-context: loopback\n"
                  "clusters: [{{name: demo, cluster: {{server: \"https://localhost:6443\", certificate-authority-data: {}}}}}]\n"
                  "contexts: [{{name: loopback, context: {{cluster: demo, user: loopback}}}}]\n"
                  "users: [{{name: loopback, user: {{client-certificate-data: {}, client-key-data: {}}}}}]\n",
                  base64_encode(certificates.at("kube-apiserver-localhost-signer").pem), base64_encode(admin.pem),
                  base64_encode(admin.key.reveal())),
      0600);
}

inline Result<> put_manifests(sys::Files& files, const std::string& root, const RenderAssets& assets) {
  const std::string install_config = fmt::format(
      "apiVersion: v1\nmetadata: {{name: demo}}\nbaseDomain: example.com\ncontrolPlane: {{name: master, replicas: {}}}\n"
      "networking: {{machineNetwork: [{{cidr: 10.97.77.0/24}}]}}\nplatform: {{{}}}\n{}",
      assets.replicas, assets.install_config_platform, assets.install_config_more);
  const Json cluster_config{{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata", {{"name", "cluster-config-v1"}, {"namespace", "kube-system"}}},
                            {"data", {{"install-config", install_config}}}};
  const std::string manifests = root + "/manifests/";
  TRY(files.write(manifests + "cluster-config.yaml", emit_yaml(cluster_config), 0600));
  TRY(files.write(manifests + "cluster-network-02-config.yml",
                  fmt::format("apiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {{name: cluster}}\nspec:\n"
                              "  clusterNetwork: [{{cidr: 10.128.0.0/14, hostPrefix: 23}}]\n  networkType: {}\n"
                              "  serviceNetwork: [172.30.0.0/16]\n",
                              assets.network_type),
                  0644));
  TRY(files.write(manifests + "cluster-infrastructure-02-config.yml",
                  fmt::format("apiVersion: config.openshift.io/v1\nkind: Infrastructure\nmetadata: {{name: cluster}}\nstatus:\n"
                              "  controlPlaneTopology: {}\n  platformStatus: {{type: {}}}\n",
                              assets.topology, assets.platform),
                  0644));
  TRY(files.write(
      manifests + "99_feature-gate.yaml",
      fmt::format("apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {{name: cluster}}\nstatus:\n  featureGates:\n"
                  "  - version: {}\n    enabled: [{{name: ImageVolume}}, {{name: OpenShiftPodSecurityAdmission}}]\n"
                  "    disabled: [{{name: RouteExternalCertificate}}]\n",
                  assets.version),
      0644));
  return Ok{};
}

}  // namespace render_assets

// Writes all files below `root`.
inline Result<> put_render_assets(sys::Files& files, const std::string& root, const RenderAssets& assets = {}) {
  const render_assets::Certificates certificates = TRY(render_assets::put_tls(files, root, assets.now));
  TRY(render_assets::put_kubeconfig(files, root, certificates));
  return render_assets::put_manifests(files, root, assets);
}

}  // namespace slipway::testing_support
